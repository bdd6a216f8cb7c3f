"""Noise on frames of Spark: the executors draw it, and it is written once.

This needs pyspark and pyarrow on the driver and on the workers (the extra `spark`). The first call
imports them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import partial
from os import PathLike
from typing import Any, Final, NamedTuple, Unpack

from ._inputs.keywords import hint_for
from ._inputs.messages import describe
from ._inputs.paths import path_text
from .data.addition import AddOptions, noisy
from .data.cells import refuse_type
from .data.entry import NoiseOptions, Who, check_law, law_for, open_container
from .data.frame_columns import places
from .errors import ParameterOverflowError, ParameterTypeError
from .laws import Law

__all__ = ["add_noise"]
__dir__ = __all__.copy  # dir() and completion show these names alone

#: Spark's names of number types, and Arrow's names for them.
_ARROW_NAMES: Final = {
    "tinyint": "int8",
    "smallint": "int16",
    "int": "int32",
    "bigint": "int64",
    "float": "float32",
    "double": "float64",
}


def add_noise(
    frame: Any,
    columns: str | list[str] | None,
    law: Law | None = None,
    *,
    path: str | PathLike[str] | None = None,
    **options: Unpack[NoiseOptions],
) -> Any:
    """Add exact noise to a frame of Spark, write it as Parquet, and return the frame that reads it.

    Each executor draws for its partitions. Spark runs a failed task again with new noise and
    commits one of the attempts. The returned frame reads the files, so it never changes.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Not a streaming frame.
    columns : str, list of str or None
        The columns that get noise: integers, or decimals without digits after the point. None means
        all. The others are written unchanged.
    law : DiscreteGaussian, DiscreteLaplace or GeneralizedGaussian, optional
        The noise. Give either a law or a budget.
    path : str or path-like
        The folder to create, as for ``frame.write.parquet``; it must not exist yet. The driver and
        all executors must reach it under this name.
    rho, epsilon, delta, sensitivity, rows_per_person, disjoint
        The budget of the whole frame, and how much one person changes in it, as for
        `discretegauss.add_noise`.
    overflow, modulus, integral_floats, method
        As for `discretegauss.add_noise`. For integer columns, modulus is at most 2**63.
    source : "getrandom" or "chacha20", optional
        The source of each executor's bits.

    Returns
    -------
    pyspark.sql.DataFrame
        The same columns; those with noise are bigint, or decimal(38,0). Nulls stay null.

    Raises
    ------
    TypeError, ValueError, OverflowError
        Before any task runs: as `discretegauss.add_noise`, or if `path` is missing.
    pyspark.errors.PySparkException
        If `path` exists, or if a task fails as often as Spark allows, for example because
        `discretegauss.add_noise` refuses the counts of a partition. Nothing is published then.
    ImportError
        If pyspark or pyarrow is not installed.

    Notes
    -----
    Spark's committer moves the files of a task when the task ends, and publishes all files when the
    job ends ("algorithm version 1", which this function sets). Files of failed attempts are deleted
    at the end with the folder ``_temporary``. After an error Spark leaves an empty folder at `path`
    and its new parent folders: delete them before the next try. If the driver is killed, delete the
    whole folder: it may hold two noises for the same counts.

    References
    ----------
    arXiv:2004.00010, Theorem 14: the rho of several values, each with its own noise.

    Examples
    --------
    ::

        frame = spark.read.parquet("counts.parquet")
        noisy = discretegauss.spark.add_noise(frame, ["people"], rho="0.1", path="noisy.parquet")
    """
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DecimalType, LongType, StructField, StructType

    if not isinstance(frame, DataFrame):
        raise ParameterTypeError(f"frame must be a DataFrame of Spark, got {type(frame).__name__}")
    if isinstance(columns, Law):
        raise ParameterTypeError("columns must be a string or a list; the law comes after them")
    if path is None:
        raise ParameterTypeError(
            "path must name the folder of the result, because Spark would draw new noise each time "
            "that it computes a lazy result"
        )
    folder = path_text(path, "path", "a folder")
    if frame.isStreaming:
        raise ParameterTypeError("frame must not be a stream, because its noise is written once")
    fields = list(frame.schema.fields)
    at = places([field.name for field in fields], columns)
    names = [fields[i].name for i in at]
    empty = pa.schema([(fields[i].name, _arrow_type(fields[i])) for i in at]).empty_table()
    noise, result = noise_of_tasks(empty, law, **options)
    for i, kind in zip(at, result.schema.types, strict=True):
        if pa.types.is_unsigned_integer(kind):
            raise ParameterOverflowError(
                "modulus must be at most 2**63 for integers of Spark; for a larger one cast the "
                "column to decimal(38,0)"
            )
        of_spark = LongType() if pa.types.is_integer(kind) else DecimalType(kind.precision, 0)
        fields[i] = StructField(fields[i].name, of_spark, fields[i].nullable, fields[i].metadata)
    schema = StructType(fields)
    task = partial(_noisy_batches, noise=noise, columns=names, labels=schema.fieldNames())
    # mapInArrow reads a dot in a column's name as field access, and no quoting prevents that
    numbered = frame.toDF(*(f"column{i}" for i in range(len(fields))))
    writer = numbered.mapInArrow(task, schema).write.mode("error")
    # version 2 publishes file by file, so a task that dies halfway may publish noise twice
    writer.option("mapreduce.fileoutputcommitter.algorithm.version", "1").parquet(folder)
    return frame.sparkSession.read.schema(schema).parquet(folder)


class TaskNoise(NamedTuple):
    """The noise of all tasks. Each task gets only this object."""

    law: Law
    how: AddOptions

    def added_to(self, values: Any, columns: object = None) -> Any:
        """Return values with noise, as `add_noise` does."""
        container = open_container(values, columns, floats=self.how.floats)
        return container.close(noisy(container.cells, self.law, self.how))


def noise_of_tasks(
    template: Any,
    law: Law | None,
    *,
    rho: object = None,
    epsilon: object = None,
    delta: object = None,
    sensitivity: object = 1,
    rows_per_person: int = 1,
    disjoint: bool = False,
    integral_floats: bool = False,
    **options: Any,
) -> tuple[TaskNoise, Any]:
    """Return the noise of tasks, and the template with noise.

    The template has the values' types without rows. All checks that do not depend on the counts are
    made on it. The other arguments are those of `add_noise`.
    """
    known = (
        inspect.signature(noise_of_tasks).parameters.keys() | AddOptions.__dataclass_fields__.keys()
    )
    for name in options:
        if name not in known - {"template", "options", "floats"}:
            raise ParameterTypeError(
                f"add_noise() has no parameter {name!r}{hint_for(name, known)}"
            )
    how = AddOptions(floats=integral_floats, **options)
    if not isinstance(how.source, str):
        raise ParameterTypeError(
            "source must be 'getrandom' or 'chacha20' here: each task would read a copy of any "
            f"other, and so the same bits, got {describe(how.source)}"
        )
    check_law(law)
    container = open_container(template, floats=how.floats)
    budget = {"rho": rho, "epsilon": epsilon, "delta": delta}
    who = Who(sensitivity, rows_per_person, disjoint)
    noise = TaskNoise(law_for(template, container, law, budget, who), how)
    return noise, container.close(noisy(container.cells, *noise))


def _arrow_type(field: Any) -> Any:
    """Return Arrow's type of a column of numbers."""
    import pyarrow as pa
    from pyspark.sql.types import DecimalType

    kind = field.dataType
    if isinstance(kind, DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    name = kind.simpleString()
    if name not in _ARROW_NAMES:
        raise refuse_type(name)
    return pa.type_for_alias(_ARROW_NAMES[name])


def _noisy_batches(
    batches: Iterator[Any], noise: TaskNoise, columns: list[str], labels: list[str]
) -> Iterator[Any]:
    """Yield the batches of a partition with these labels and noise; this runs on a worker."""
    for batch in batches:
        labelled = type(batch).from_arrays(batch.columns, labels)
        yield noise.added_to(labelled, columns)
