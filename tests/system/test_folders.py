"""After an error only the folders that were made for the files are removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from discretegauss._system.folders import folder_made


def test_after_an_error_empty_folders_that_were_made_go(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), folder_made(tmp_path / "a" / "b"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(IsADirectoryError), folder_made(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b").rename(tmp_path / "a" / "c").write_text("")
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "a", tmp_path / "a" / "c"]
    with folder_made(tmp_path / "a" / "b"):
        pass
    with pytest.raises(KeyboardInterrupt), folder_made(tmp_path / "a" / "b"):
        raise KeyboardInterrupt
    assert (tmp_path / "a" / "b").is_dir()


def test_a_folder_that_cannot_be_made_is_named_and_leaves_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder, error in ((tmp_path / "file", FileExistsError), (tmp_path / "file/a", OSError)):
        with pytest.raises(error) as raised, folder_made(folder):
            pass
        assert raised.value.filename == str(folder)
    with pytest.raises(OSError, match="too long"), folder_made(tmp_path / "new" / ("x" * 300)):
        pass
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
