"""Pages that are programs run as written, from top to bottom, in an empty folder.

DG_HOW_TO_PYTHON names the Python of an environment with only the packages that the pages ask for.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from engine import ENGINE
from programs import printed

DOCS = Path(__file__).resolve().parents[2] / "docs"
PYTHON = Path(os.environ.get("DG_HOW_TO_PYTHON", sys.executable))
NEEDS = {"cross_tables": ("pandas", "narwhals"), "concepts/teaching": ("matplotlib",)}
"""Of the extra ``test``, or of none."""

NEED_THE_CORE = ["concepts/teaching"]  # draws from a seed

RUNNER = """
import sys
exec(compile(sys.stdin.read(), sys.argv[1], "exec"), {"__name__": "__main__"})
"""


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return the blocks of code, in order, with their languages."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)


def program(page: Path, folder: Path) -> str:
    """Return the page as one program, which runs shell commands in order; save files at once."""
    lines = ["import subprocess as _s"]
    for language, text in blocks(page):
        named = re.match(r"# ([\w.]+)\n", text)
        if named is not None:
            (folder / named[1]).write_text(text, encoding="utf-8")
        elif language == "python":
            lines.append(text)
        elif language == "sh":
            lines.append(f"_s.run(['bash', '-euc', {text!r}], check=True)")
        else:
            pytest.fail(f"{page.name} has a block of {language!r} that nothing runs")
    return "\n".join(lines)


def run(page: Path, folder: Path) -> None:
    """Run a page, which must succeed."""
    folders = [str(PYTHON.parent), *os.environ["PATH"].split(os.pathsep)]
    env = os.environ | {"PATH": os.pathsep.join(folders)}
    command = [PYTHON, "-I", "-c", RUNNER, page.name]
    printed(*command, input=program(page, folder), cwd=folder, env=env)


RUN_HERE = ["concepts/teaching", "cross_tables", "why_believe_it"]


@pytest.mark.parametrize("name", RUN_HERE)
def test_the_page_runs_as_written(name: str, tmp_path: Path) -> None:
    for module in NEEDS.get(name, ()):
        pytest.importorskip(module)
    if name in NEED_THE_CORE and ENGINE != "native":
        pytest.skip("the compiled engine is not in use here")
    run(DOCS / f"{name}.md", tmp_path)


@pytest.mark.cluster
def test_spark_runs_as_written(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path_factory.mktemp("settings")  # of the machine, as an administrator makes them
    lines = ("spark.driver.bindAddress 127.0.0.1", "spark.sql.parquet.compression.codec gzip")
    (settings / "spark-defaults.conf").write_text("\n".join(lines))  # gzip: no native library
    monkeypatch.setenv("SPARK_CONF_DIR", str(settings))
    text = (DOCS / "elsewhere" / "clusters.md").read_text(encoding="utf-8")
    page = tmp_path / "clusters.md"
    page.write_text(text.split("\n## Spark\n")[1].split("\n## ")[0], encoding="utf-8")
    run(page, tmp_path)
    assert list(tmp_path.glob("spark_noisy.parquet/*"))


def test_a_page_that_fails_is_reported(tmp_path: Path) -> None:
    """The check fails if Python or the shell does."""
    for text in ("```python\nassert 1 == 2\n```\n", "```sh\nfalse | true\nfalse\n```\n"):
        page = tmp_path / "page.md"
        page.write_text(text, encoding="utf-8")
        with pytest.raises(AssertionError):
            run(page, tmp_path)
