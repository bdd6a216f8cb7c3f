"""Creation of folders that are removed again after an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .atomic_file import errors_name
from .signals import signals_deferred


@contextmanager
def folder_made(folder: Path) -> Iterator[None]:
    """Create a folder and its parents; if the block raises, remove those of them that are empty.

    Folders that existed before, or that another process creates, stay. Errors name `folder`.
    """
    made: list[Path] = []
    try:
        with errors_name(folder), signals_deferred():
            for path in reversed([folder, *folder.parents]):
                if not path.is_dir():
                    with suppress(FileExistsError):
                        path.mkdir()
                        made.append(path)
            folder.mkdir(exist_ok=True)  # raises if it is a file
        yield
    except BaseException:
        with suppress(OSError), signals_deferred():
            for path in reversed(made):
                path.rmdir()
        raise
