"""The schema of an Arrow table with noise, and its metadata for pandas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_PANDAS = b"pandas"


def widest_decimal(kind: Any) -> Any:
    """Return the decimal type of the same width with the most digits, and with a units digit."""
    import pyarrow as pa

    scale = max(0, kind.scale)
    return pa.decimal256(76, scale) if kind.bit_width == 256 else pa.decimal128(38, scale)


def with_types(schema: Any, types: Mapping[int, Any]) -> Any:
    """Return the schema with other types at some places: int64, uint64 or decimals.

    pandas reads a column as the dtype that it wrote into the metadata, UInt16 for example. It would
    refuse noise beyond that dtype, or round it to floats. So the metadata get the new type, too.
    """
    import pyarrow as pa

    fields = [x if i not in types else x.with_type(types[i]) for i, x in enumerate(schema)]
    schema = pa.schema(fields, schema.metadata)
    try:
        metadata = json.loads((schema.metadata or {}).get(_PANDAS, b""))
        columns = {entry.get("field_name", entry["name"]): entry for entry in metadata["columns"]}
    except (ValueError, TypeError, KeyError):  # no metadata, or none that pandas can read
        return schema
    for i, kind in types.items():
        if (name := fields[i].name) in columns:
            _retype(columns[name], kind)
    return schema.with_metadata({**schema.metadata, _PANDAS: json.dumps(metadata)})


def _retype(entry: dict[str, Any], kind: Any) -> None:
    """Give a column's entry its new type, in the same family of pandas dtypes."""
    precision = getattr(kind, "precision", None)
    if precision is not None:
        entry["pandas_type"], entry["numpy_type"] = "decimal", "object"
        entry["metadata"] = {"precision": precision, "scale": kind.scale}
        return
    family, name = str(entry.get("numpy_type")), str(kind)
    if family.endswith("[pyarrow]"):
        entry["numpy_type"] = f"{name}[pyarrow]"
    elif family[:1].isupper():  # Int8, UInt16, Float64
        entry["numpy_type"] = {"int64": "Int64", "uint64": "UInt64"}[name]
    else:
        entry["numpy_type"] = name
    entry["pandas_type"], entry["metadata"] = name, None
