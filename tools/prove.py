#!/usr/bin/env python3
"""Check every numeric lemma that is a Gappa script: `tools/prove.py [csrc/*/*.gappa]`.

In a script, $NAME$ is a constant of a C file in its folder, so the proof is about the code's
numbers. code_lines.py compares quoted lines with the code, and constants with exact numbers;
`--lines` does only that. ?BOUND?, a number or such a name, is a bound that the script claims or
uses. As a control, the bounds of each line are halved, and Gappa must reject the script.

The table of a PROOF.md must have a row for every lemma, and name every script beside it.

It needs Gappa (Debian: gappa), and takes seconds. `--coq` has Coq's kernel check Gappa's proofs,
and the scripts' assumptions about exp and ln (prove_coq.py); all of that takes minutes.
"""

import argparse
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import code_lines
import prove_coq

CORE = Path(__file__).resolve().parent.parent / "csrc"
SECONDS = 600
CLAIM = r"\?([\w. +]+)\?(?:b-(\d+))?"


def filled_in(script: Path, halved: int | None = None) -> str:
    """Return the script with its constants and bounds, those of one line halved."""

    def number(expression: str) -> Fraction:
        return sum((term(t) for t in expression.split(" + ")), Fraction(0))

    def term(text: str) -> Fraction:
        if not text[0].isalpha():
            return Fraction(text)
        return Fraction(code_lines.whole(code_lines.constant(text, script.parent)))

    def shown(value: Fraction, places: str | None) -> str:
        if places is None:
            return str(float(value))
        return f"{value * 2}b-{int(places) + 1}"  # whole, though it may be a half

    def constant(match: re.Match[str]) -> str:
        return shown(number(match[1]), match[2])

    def claim(match: re.Match[str]) -> str:
        return shown(number(match[1]), match[2])

    def half(match: re.Match[str]) -> str:
        return shown(number(match[1]) / 2, match[2])

    text = re.sub(r"\$([^$]+)\$(?:b-(\d+))?", constant, script.read_text())
    lines = text.splitlines()
    return "\n".join(re.sub(CLAIM, half if i == halved else claim, s) for i, s in enumerate(lines))


def believed(text: str) -> tuple[bool, str]:
    """Return whether Gappa proves a script, and Gappa's output."""
    command = ["gappa", "-Eno-auto-dichotomy"]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    return done.returncode == 0, done.stderr


def proves(text: str) -> bool:
    proven, said = believed(text)
    # Gappa believes a rewriting that it cannot check
    if "syntax error" in said or "trivially equal" in said:
        raise ValueError(said)
    return proven


def misread(script: Path) -> list[str]:
    """Return the claims of a script that the code does not meet."""
    return code_lines.misquoted(script) + code_lines.inexact(script)


def faults(script: Path) -> list[str]:
    """Return the faults of a script; none if it proves its claims, and no sharper ones."""
    lines = script.read_text().splitlines()
    claims = {i: line.strip() for i, line in enumerate(lines) if re.search(CLAIM, line)}
    found = misread(script) if claims else ["it claims no bound, between ? and ?"]
    if not proves(filled_in(script)):
        found.append("NOT PROVEN")
    halves = [line for i, line in claims.items() if proves(filled_in(script, i))]
    return found + [f"half of it NOT REJECTED: {line}" for line in halves]


def checked_by_coq(script: Path) -> list[str]:
    """Return the faults of the proof that Gappa finds."""
    return prove_coq.faults(script, filled_in(script))


def not_rejected(wrong: tuple[str, str, str]) -> str | None:
    """Return the controls that fail: wrong scripts that Coq accepts, or Gappa does not believe."""
    name, right, made = wrong
    text = filled_in(CORE / name)
    if text.count(right) != 1:
        return f"{name} has no single place for the control: {right}"
    text = text.replace(right, made)
    if not believed(text)[0]:
        return f"{name}: as a control, Gappa was to believe: {made}"
    rejected = [fault for fault in prove_coq.faults(CORE / name, text) if fault.startswith("Coq: ")]
    return None if rejected else f"{name}: NOT REJECTED by Coq: {made}"


def unlisted(proof: Path) -> list[str]:
    """Return the lemmas and scripts that the table of a PROOF.md lacks."""
    text = proof.read_text()
    rows = re.findall(r"^\| ([\d, ]+) \| (.*)$", text, re.MULTILINE)
    listed = {number for numbers, _ in rows for number in numbers.split(", ")}
    scripts = {name for _, row in rows for name in re.findall(r"`(\w+\.gappa)`", row)}
    lemmas = re.findall(r"^\*\*Lemma (\d+)", text, re.MULTILINE)
    return [
        f"lemma {number} has no row in the table" for number in lemmas if number not in listed
    ] + [
        f"{script.name} is in no row of the table"
        for script in sorted(proof.parent.glob("*.gappa"))
        if script.name not in scripts
    ]


def main() -> int:
    options = argparse.ArgumentParser(description="Check every numeric lemma.")
    options.add_argument(
        "--lines", action="store_true", help="what they say of the code, no proofs"
    )
    options.add_argument(
        "--coq", choices=["quick", "all"], help="by Coq's kernel, those that take seconds, or all"
    )
    options.add_argument("scripts", nargs="*", type=Path, help="these; all by default")
    said_to = options.parse_args()
    scripts = [name.resolve() for name in said_to.scripts] or sorted(CORE.glob("*/*.gappa"))
    proofs = [] if said_to.scripts else sorted(CORE.glob("*/PROOF.md"))
    check, holds = faults, "proven; each bound halved: rejected"
    if said_to.lines:
        check, holds = misread, "the code reads so"
    if said_to.coq:
        check, holds = checked_by_coq, "accepted by Coq's kernel"
    if said_to.coq == "quick":
        scripts = [script for script in scripts if not prove_coq.is_slow(script)]
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for script, found in zip(scripts, pool.map(check, scripts), strict=True):
            said = "; ".join(found) or holds
            print(f"{script.relative_to(CORE)}: {said}")
            failed += bool(found)
    if said_to.coq and not said_to.scripts:
        accepted = [said for said in map(not_rejected, prove_coq.WRONG) if said]
        print("\n".join(accepted) or f"{len(prove_coq.WRONG)} wrong ones: rejected by Coq")
        failed += len(accepted)
    for proof in proofs:
        missing = unlisted(proof)
        print(f"{proof.relative_to(CORE)}: {'; '.join(missing) or 'every lemma is listed'}")
        failed += bool(missing)
    missing = [] if said_to.scripts else code_lines.unquoted(CORE)
    print("\n".join(missing) or "every operation is quoted")
    failed += bool(missing)
    print(f"{len(scripts)} scripts, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
