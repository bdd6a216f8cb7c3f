"""Compare a Gappa script with the C code beside it. The script says in comments:

    # code FILE NAME:     the body of this function or macro, in its order, on the following lines
    #     TEXT            that begin with a # and five spaces. A line of the code stands above the
                          formula for what it computes. `...` leaves something out.
    # code FILE: TEXT     the file contains TEXT.
    # exact NAME: VALUE   the value of a constant, FUNCTION.NAME if it is in a function;
                          NAME[i < n] is each of the n items of a table; NAME[i < n bytes] is each
                          byte of them, from the lowest; NAME(i), i = m ... n is a macro's value.

VALUE is computed exactly: `floor` takes a number that is known to 2^-400.
"""

import ast
import operator
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import factorial, isqrt
from pathlib import Path
from typing import NamedTuple

# Lemmas bound every operation of these functions, so a script quotes each of them whole. It may
# leave out only the entries of a table, which are compared with exact numbers.
WHOLE = {
    "bounds/elementary.c": """
        mul_high mul_high_64 exp_far_terms exp_fraction exp_negative product
        exp_fraction_64 product_64 log_mantissa_64 log_mantissa log_integer exp_bound
        log_scaled times power get_scaled set_word dg_get_words dg_exp_negative
        dg_log_integer dg_power
    """,
    "bounds/enclosure.c": """
        power in_units set_centre set_law dg_enclosure_open_for_table set_farther_by
        exponent_by_slope exponent dg_weight_lower dg_weight_upper dg_enclose_level
    """,
    "cells/build_arcs.c": """
        arc_between constant_arc parabola level_zero_arc level_arcs height_at
        arc_on_block level_on_block in_cells set_block_height set_block_arc at_level
        tail_integer_arc tail_height tail_arcs single_arcs centre_distance
    """,
    "cells/build_chord.c": """
        steep_exponent dg_chord_open derivatives bend dg_chord_measure dg_chord_spread
        dg_chord_bulge_size dg_chord_bulge dg_end_place dg_end_set dg_end_at_level
    """,
    "cells/build_table.c": "tails_halve",
    "cells/decide.h": "dg_reach dg_arc_height",
    "isochronous/arcs_silent.c": """
        rounded share_of parabola third_at gaussian_bow set_exponential
    """,
    "isochronous/build_lane_power.c": "log_of_power shifted_scale dg_lane_power_errors",
    "isochronous/build_lanes.c": "set_rate exponent_at",
    "isochronous/lane_attempt.h": "high DG_LANE_ADD heights_of exponent_at found_by",
    "isochronous/lane_laws.c": "above_of",
    "isochronous/lane_power.h": "log2_of power_of",
    "isochronous/lanes.h": "DG_LANE_TERM DG_LANE_LOG_TERM",
    "isochronous/silent_decide.h": "dg_silent_half_exponential dg_silent_arc dg_silent_decide",
}

# --- exact numbers ------------------------------------------------------------------------------

BITS = 400


class Real(NamedTuple):
    """A real number, enclosed by two bounds."""

    lower: Fraction
    upper: Fraction


Number = int | Fraction | Real


def as_real(x: Number) -> Real:
    return x if isinstance(x, Real) else Real(Fraction(x), Fraction(x))


def of_ends(operation: Callable[[Fraction, Fraction], Fraction], a: Number, b: Number) -> Real:
    """Apply an operation that is monotonic in both operands while b is away from 0."""
    ends = [operation(x, y) for x in as_real(a) for y in as_real(b)]
    return Real(min(ends), max(ends))


def floor(x: Number) -> int:
    lower, upper = as_real(x)
    if lower // 1 != upper // 1:
        raise ValueError(f"a floor that {BITS} bits do not tell")
    return int(lower // 1)


def root(x: Number, n: int) -> Number:
    """Return the n-th root of an integer or fraction, n a power of 2."""
    scaled = int(Fraction(x) * 2 ** (BITS * n)) if not isinstance(x, Real) else 0
    whole = scaled
    while n > 1:
        whole, n = isqrt(whole), n // 2
    return Real(Fraction(whole, 2**BITS), Fraction(whole + 1, 2**BITS))


def exp2(x: Number) -> Number:
    """Return 2^x, for an x whose denominator is a power of 2."""
    if isinstance(x, Real):
        raise TypeError("2 to a power that is not exact")
    over = Fraction(x).denominator
    if over == 1:
        return Fraction(2) ** int(x)
    return root(Fraction(2) ** Fraction(x).numerator, over)


@cache
def ln(x: Number) -> Number:
    """Return ln m + k ln 2, x = m 2^k, by 2 atanh((m - 1)/(m + 1)), each term rounded down."""
    if isinstance(x, Real):
        return Real(as_real(ln(x.lower)).lower, as_real(ln(x.upper)).upper)
    m, k = Fraction(x), 0
    while m > 2:
        m, k = m / 2, k + 1
    while m < 1:
        m, k = m * 2, k - 1
    z = (m - 1) / (m + 1)
    power, total, n = int(z * 2**BITS), 0, 0
    while power != 0:
        total += power // (2 * n + 1)
        power, n = int(power * z * z), n + 1
    of_m = Real(Fraction(2 * total, 2**BITS), Fraction(2 * (total + 3 * n + 3), 2**BITS))
    return of_m if k == 0 else of_ends(operator.add, of_m, of_ends(operator.mul, k, ln(2)))


def log2(x: Number) -> Number:
    if not isinstance(x, Real) and Fraction(x) == Fraction(2) ** (int(x).bit_length() - 1):
        return int(x).bit_length() - 1
    if not isinstance(x, Real) and x < 1:
        return of_ends(operator.sub, 0, log2(1 / Fraction(x)))
    return of_ends(operator.truediv, ln(x), ln(2))


def sqrt(x: Number) -> Number:
    return root(x, 2)


def whole(x: Number) -> int:
    """Return an exact number as an int: an exponent, a shift, or the operand of a factorial."""
    if isinstance(x, Real) or Fraction(x).denominator != 1:
        raise ValueError(f"not whole: {x}")
    return int(x)


FUNCTIONS: dict[str, Callable[[Number], Number]] = {
    "floor": floor,
    "ln": ln,
    "log2": log2,
    "exp2": exp2,
    "sqrt": sqrt,
    "factorial": lambda n: factorial(whole(n)),
}

Called = Callable[[str, list[Number]], Number]


def value_of(node: ast.expr, called: Called) -> Number:
    """Evaluate a Python expression of numbers; `called` knows its names and functions."""
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return called(name, [])
        case ast.Call(func=ast.Name(id=name), args=args):
            return called(name, [value_of(a, called) for a in args])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return of_numbers(ast.Sub(), 0, value_of(operand, called))
        case ast.BinOp(left=left, op=op, right=right):
            return of_numbers(op, value_of(left, called), value_of(right, called))
    raise ValueError(f"no number: {ast.unparse(node)}")


def parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"no expression: {text.strip()}") from error


def of_numbers(op: ast.operator, a: Number, b: Number) -> Number:
    match op:
        case ast.Pow() if isinstance(a, Real):  # positive
            return Real(a.lower ** whole(b), a.upper ** whole(b))
        case ast.Pow():
            return Fraction(whole(a)) ** whole(b)
        case ast.LShift():
            return whole(a) << whole(b)
        case ast.RShift():
            return whole(a) >> whole(b)
        case ast.BitOr():
            return whole(a) | whole(b)
        case ast.FloorDiv():
            return whole(a) // whole(b)
    monotonic: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
    }
    done = of_ends(monotonic[type(op)], a, b)
    return done.lower if done.lower == done.upper else done


def exact(expression: str, names: dict[str, Number]) -> Number:
    """Evaluate an expression of a script."""

    def called(name: str, args: list[Number]) -> Number:
        return FUNCTIONS[name](*args) if args else names[name]

    return value_of(parsed(expression), called)


# --- the code -----------------------------------------------------------------------------------


@cache
def source_of(file: Path) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", file.read_text(), flags=re.DOTALL)


@cache
def macro_of(source: str, name: str) -> tuple[list[str], str] | None:
    """Return the parameters and the text of a macro."""
    found = re.search(rf"^#define {name}\b(?:\(([^)]*)\))?((?:.*\\\n)*.*)", source, re.MULTILINE)
    if not found:
        return None
    return re.findall(r"\w+", found[1] or ""), found[2].replace("\\\n", " ")


@cache
def body_of(source: str, name: str) -> str | None:
    """Return the text of a macro, or the body of the first function of this name."""
    macro = macro_of(source, name)
    if macro:
        return macro[1]
    found = re.search(rf"\b{name}\((?:[^(){{}};]|\([^()]*\))*\)\s*\{{", source)
    if not found:
        return None
    depth = 1
    for at in range(found.end(), len(source)):
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        if depth == 0:
            return source[found.end() : at]
    return None


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.[ch]"))


def c_value(text: str, folder: Path, names: dict[str, Number] | None = None) -> Number:
    """Evaluate a constant expression of C, without signs or overflow."""
    text = re.sub(r"\((?:u?int\d+_t|dg_[iu]128)\)|\bU?INT64_C\b", "", text)
    text = re.sub(r"\b(0x[0-9A-Fa-f]+|\d+)[uUlL]+\b", r"\1", text).replace("/", "//")

    def called(name: str, args: list[Number]) -> Number:
        if names and name in names:
            return names[name]
        for file in files_of(folder):
            macro = macro_of(source_of(file), name)
            if macro:
                return c_value(macro[1], folder, dict(zip(macro[0], args, strict=True)))
        return constant(name, folder)

    return value_of(parsed(text), called)


# A table, or an expression that ends at a comma, at a semicolon, or where its brackets do.
VALUE = r"\{[^{}]*\}|(?:\((?:[^()]|\([^()]*\))*\)|[^,;(){}])+"


def defined(name: str, folder: Path) -> str:
    """Return the value of a constant or a table."""
    function, _, last = name.rpartition(".")
    for file in files_of(folder):
        source = source_of(file)
        if function:
            source = body_of(source, function) or ""
        else:
            macro = macro_of(source, last)
            if macro:
                return macro[1].strip()
        found = re.search(rf"\b{last}(?:\[\w*\])? = ({VALUE})", source)
        if found:
            return found[1].strip()
    raise ValueError(f"no constant {name}")


def constant(name: str, folder: Path) -> Number:
    return c_value(defined(name, folder), folder)


def items(name: str, folder: Path) -> list[Number]:
    """Return the items of a table."""
    text = defined(name, folder).strip("{} \n")
    return [c_value(item, folder) for item in re.split(r",(?![^(]*\))", text) if item.strip()]


# --- claims of a script -----------------------------------------------------------------------


@cache
def tokens(text: str) -> list[str]:
    return re.findall(r"\w+|\.\.\.|\S", text)


class Quote(NamedTuple):
    """A quotation of a function or a macro."""

    file: str
    name: str
    text: list[str]


def quotes(script: Path) -> list[Quote]:
    found: list[Quote] = []
    for line in script.read_text().splitlines():
        head = re.match(r"# code (\S+) (\w+):$", line)
        if head:
            found.append(Quote(head[1], head[2], []))
        elif found and line.startswith("#     "):
            found[-1].text.extend(tokens(line[1:]))
    return found


def follows(quote: list[str], body: list[str]) -> str | None:
    """Return where the body differs from the quotation, or None."""
    at, skips = 0, False
    parts = " ".join(quote).split("...")
    for i, part in enumerate(parts):
        wanted, skips = part.split(), i > 0
        places = range(at, len(body) - len(wanted) + 1) if skips else range(at, at + 1)
        if i == len(parts) - 1 and i > 0:
            places = (
                range(max(at, len(body) - len(wanted)), len(body) - len(wanted) + 1)
                if wanted
                else range(at, at + 1)
            )
        place = next((p for p in places if body[p : p + len(wanted)] == wanted), None)
        if place is None:
            agree = next(
                (k for k, (a, b) in enumerate(zip(wanted, body[at:], strict=False)) if a != b), 0
            )
            return " ".join(wanted[0 if skips else agree :][:12])
        at = place + len(wanted)
    if at != len(body) and parts[-1].split():
        return "the end; the code goes on: " + " ".join(body[at : at + 12])
    return None


def misquoted(script: Path) -> list[str]:
    """Return the claims of a script that the code does not meet."""
    folder, text = script.parent, script.read_text()
    found = []
    for quote in quotes(script):
        file = folder / quote.file
        body = body_of(source_of(file), quote.name) if file.exists() else None
        if body is None:
            found.append(f"{quote.file} has no {quote.name}")
            continue
        missing = follows(quote.text, tokens(body))
        if missing is not None:
            found.append(f"{quote.name} ({quote.file}) does not go on with: {missing}")
    anywhere = re.findall(r"^# code (\S+): (.*)$", text, re.MULTILINE)
    for name, said in anywhere:
        if " ".join(tokens(said)) not in " ".join(tokens(source_of(folder / name))):
            found.append(f"{name} does not have: {said}")
    if not quotes(script) and not anywhere:
        found.append("it quotes no line of code")
    return found


def inexact(script: Path) -> list[str]:
    """Return the constants and tables that differ from the script."""
    found = []
    for said in re.findall(r"^# exact (.*)$", script.read_text(), re.MULTILINE):
        what, _, value = said.partition(": ")
        try:
            found += [f"{what} is not {value}{at}" for at in differ(what, value, script.parent)]
        except ValueError as error:
            found.append(f"{what}: {error}")
    return found


def differ(what: str, value: str, folder: Path) -> list[str]:
    """Return the places where a constant, or an item of a table, has another value."""
    table = re.fullmatch(r"([\w.]+)\[(\w+) < (\d+)( bytes)?\]", what)
    macro = re.fullmatch(r"(\w+\((\w+)\)), \2 = (\d+) \.\.\. (\d+)", what)
    index, start, n = "", 0, 1
    if table:
        index, n, has = table[2], int(table[3]), items(table[1], folder)
        if table[4]:
            has = [whole(word) >> (8 * k) & 0xFF for word in has for k in range(8)]
    elif macro:
        index, start, n = macro[2], int(macro[3]), int(macro[4]) + 1 - int(macro[3])
        has = [c_value(macro[1], folder, {index: start + i}) for i in range(n)]
    else:
        has = [constant(what, folder)]
    if len(has) != n:
        raise ValueError(f"there are {len(has)}")
    return [
        f", {index} = {i}" if index else ""
        for i, number in enumerate(has, start)
        if number != exact(value, {index: i})
    ]


def unquoted(core: Path) -> list[str]:
    """Return the functions of WHOLE that no script quotes from the first token to the last."""
    scripts = sorted(core.glob("*/*.gappa"))
    compared = {
        name.rpartition(".")[2]
        for script in scripts
        for name in re.findall(r"^# exact ([\w.]+)\[", script.read_text(), re.MULTILINE)
    }
    table = re.compile(rf"({'|'.join(compared)}) \[ \] = {{ \.\.\. }}")
    whole_ones = {
        ((script.parent / quote.file).resolve(), quote.name)
        for script in scripts
        for quote in quotes(script)
        if "..." not in table.sub("", " ".join(quote.text))
    }
    return [
        f"no script quotes the whole of {name} ({file})"
        for file, names in WHOLE.items()
        for name in names.split()
        if ((core / file).resolve(), name) not in whole_ones
    ]
