"""A table with counts and keys, whatever library it is of."""

from __future__ import annotations

from typing import Any

from ..data.cells import Cells
from ..data.entry import open_container
from ..data.labelled import LabelledTable


class Table(LabelledTable):
    """A table, which errors call by this name."""

    def cells(self, label: Any) -> Cells:
        """Return a column of counts."""
        is_dict = isinstance(self.table, dict)
        values, columns = (self.table[label], None) if is_dict else (self.table, [label])
        return open_container(values, columns, floats=True).cells[0]
