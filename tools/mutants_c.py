"""Plant random faults in conditions of the C core, all in one build, each behind its number.

    python tools/mutants_c.py plant FOLDER [--count N] [--seed S]    # a copy of the clone
    python tools/mutants_c.py ask FOLDER [--site SITE]               # after `cmake --build`

The environment variable DG_MUTANT chooses the fault. `ask` runs the C tests for each, and then, if
the package was installed from the copy into SITE, the default tier of the Python tests. Survivors
are noted, and the rate is reported, as tools/mutants.py does.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from mutant_operators import Mutant
from mutants import LEAST, SEEN, Verdict, notes, of_this_week, report

ROOT = Path(__file__).parents[1]
OTHERS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
OTHERS |= {"&&": "||", "||": "&&", "+": "-", "-": "+"}
CONDITION = re.compile(r"( {4,}(?:} else )?(?:if|while) \()(.*)(\) \{)")
OPERATOR = re.compile("(?<= )(?:{})(?= )".format("|".join(map(re.escape, OTHERS))))

CHOICE = """
#include <stdlib.h>
int dg_mutant;
__attribute__((constructor)) static void choose_mutant(void)
{
    const char *number = getenv("DG_MUTANT");
    dg_mutant = number ? atoi(number) : 0;
}
"""


def conditions(core: Path) -> list[Mutant]:
    """Return a mutant for each operator of conditions that stand on one line."""
    found = []
    for path in sorted(core.rglob("*.c")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if at := CONDITION.fullmatch(line):
                for operator in OPERATOR.finditer(at[2]):
                    name, change = path.relative_to(core), f"{operator[0]} to {OTHERS[operator[0]]}"
                    place = operator.start()
                    found.append(Mutant(str(name), "", number, line.strip(), change, place))
    return found


def with_fault(line: str, mutant: Mutant, number: int) -> str:
    """Return the line of a condition that is another one if that number is chosen."""
    at = CONDITION.fullmatch(line)
    if at is None:
        raise LookupError(f"{mutant.file}:{mutant.line} has no condition")
    old, _, new = mutant.operator.partition(" to ")
    end = mutant.place + len(old)
    faulty = f"{at[2][: mutant.place]}{new}{at[2][end:]}"
    return f"{at[1]}dg_mutant == {number} ? ({faulty}) : ({at[2]}){at[3]}"


def plant(folder: Path, count: int, seed: int) -> None:
    """Write a copy of the clone whose core has faults in different lines, and the list of them."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns("build", ".*", "node_modules"))
    core = folder / "csrc"
    every = conditions(core)
    by_line = {(one.file, one.line): one for one in random.Random(seed).sample(every, len(every))}
    mutants = list(by_line.values())[:count]
    for file in {one.file for one in mutants}:
        lines = (core / file).read_text("utf-8").splitlines()
        for number, one in enumerate(mutants, 1):
            if one.file == file:
                lines[one.line - 1] = with_fault(lines[one.line - 1], one, number)
        (core / file).write_text("\n".join(["extern int dg_mutant;", *lines, ""]), "utf-8")
    with (core / "base" / "wipe.c").open("a", encoding="utf-8") as file_of_all:
        file_of_all.write(CHOICE)
    (folder / "mutants.json").write_text(json.dumps(mutants), "utf-8")
    print(f"seed {seed}, {len(mutants)} faults in {len(every)} places", flush=True)


def ended(command: list[str], how: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, env=how, capture_output=True, text=True, check=False)


def first_failure(folder: Path, site: Path | None, number: int) -> str | None:
    """Return what fails if that fault is chosen: the C tests, or the Python tests, or nothing."""
    environment = os.environ | {"DG_MUTANT": str(number)}
    c_tests = [
        "ctest",
        "--test-dir",
        str(folder / "build"),
        "--stop-on-failure",
        "--timeout",
        "300",
    ]
    c_tests += ["-j", str(os.cpu_count())]
    asked = {"ctest": (c_tests, environment)}
    if site is not None:
        environment = environment | {"PYTHONPATH": str(site)}
        rest = ["-x", "-q", "-p", "no:cacheprovider", "-n", "2"]
        asked["pytest"] = ([sys.executable, "-m", "pytest", *rest], environment)
    for name, (command, how) in asked.items():
        done = subprocess.run(
            command, cwd=ROOT, env=how, capture_output=True, text=True, check=False
        )
        if done.returncode:
            failed = re.search(r"^\s*\d+ - (\S+) \(|^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)
            return f"{name} {(failed[1] or failed[2]) if failed else done.returncode}"
    return None


def ask(folder: Path, site: Path | None) -> int:
    """Ask the tests for each fault; return the exit code."""
    mutants = [Mutant(*one) for one in json.loads((folder / "mutants.json").read_text("utf-8"))]
    if failed := first_failure(folder, site, 0):
        print(f"without a fault {failed} fails")
        return 1
    verdicts = []
    for number, mutant in enumerate(mutants, 1):
        verdicts.append(Verdict(mutant, first_failure(folder, site, number), 0))
        by = verdicts[-1].by
        print(f"{f'found {by}' if by else 'SURVIVED'}  {mutant.file}:{mutant.line}", flush=True)
    return int(report(verdicts, notes(SEEN)) < LEAST)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("step", choices=["plant", "ask"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=of_this_week())
    parser.add_argument("--site", type=Path)
    given = parser.parse_args(arguments)
    if given.step == "ask":
        return ask(given.folder.absolute(), given.site and given.site.absolute())
    plant(given.folder, given.count, given.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
