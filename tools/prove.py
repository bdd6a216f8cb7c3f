#!/usr/bin/env python3
"""Check every numeric lemma that is a Gappa script: `tools/prove.py [csrc/*/*.gappa]`.

In a script $NAME$ is an enum constant of a C file in its folder: what is proven is about the
numbers that the code has. ?BOUND?, a number or such a name, is a bound that the script claims.
Every script is run once more with each of these halved, as a control: that has to be rejected.

It needs Gappa (Debian: gappa), and takes seconds.
"""

import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

CORE = Path(__file__).resolve().parent.parent / "csrc"
SECONDS = 60


def constants(folder: Path) -> dict[str, Fraction]:
    """The enum constants of a folder that are plain numbers."""
    found = {}
    for file in sorted(folder.glob("*.[ch]")):
        for body in re.findall(r"\benum \{(.*?)\}", file.read_text(), re.DOTALL):
            for name, value in re.findall(r"\b([A-Z]\w*) = (\d+)\b(?! <<)", body):
                found[name] = Fraction(value)
    return found


def filled_in(script: Path, share: Fraction) -> str:
    """The script with its constants, and this share of each bound that it claims."""
    names = constants(script.parent)

    def number(expression: str) -> Fraction:
        terms = expression.split(" + ")
        return sum((names[t] if t[0].isalpha() else Fraction(t) for t in terms), Fraction(0))

    def shown(value: Fraction, places: str | None) -> str:
        if places is None:
            return str(float(value))
        return f"{value * 2}b-{int(places) + 1}"  # whole, though it may be a half

    def constant(match: re.Match[str]) -> str:
        return shown(number(match[1]), match[2])

    def claim(match: re.Match[str]) -> str:
        return shown(number(match[1]) * share, match[2])

    text = re.sub(r"\$([^$]+)\$(?:b-(\d+))?", constant, script.read_text())
    text, n_claims = re.subn(r"\?([\w. +]+)\?(?:b-(\d+))?", claim, text)
    if n_claims == 0:
        sys.exit(f"{script}: claims no bound, between ? and ?")
    return text


def proves(text: str) -> bool:
    command = ["gappa", "-Eno-auto-dichotomy"]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    # a rewriting that Gappa cannot check it would believe
    if "syntax error" in done.stderr or "trivially equal" in done.stderr:
        sys.exit(done.stderr)
    return done.returncode == 0


def main() -> int:
    scripts = [Path(name).resolve() for name in sys.argv[1:]] or sorted(CORE.glob("*/*.gappa"))
    failed = 0
    for script in scripts:
        proven = proves(filled_in(script, Fraction(1)))
        rejected = not proves(filled_in(script, Fraction(1, 2)))
        failed += not (proven and rejected)
        print(
            f"{script.relative_to(CORE)}: {'proven' if proven else 'NOT PROVEN'}; "
            f"half of it: {'rejected' if rejected else 'NOT REJECTED'}"
        )
    print(f"{len(scripts)} scripts, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
