"""Noise on frames of Spark, drawn where the partitions are, and written once.

Needs pyspark and pyarrow, here and on the workers (the extra `spark`). They are imported by the
first call.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from os import PathLike
from typing import Any, Final, Unpack

from .data.cells import refuse_type
from .data.entry import AskedAnywhere
from .data.frame_columns import places
from .data.tasks import TaskNoise, noise_of_tasks, result_path
from .errors import ParameterOverflowError, ParameterTypeError
from .laws import Law

__all__ = ["add_noise"]

#: Spark's names of numbers and Arrow's.
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
    **asked: Unpack[AskedAnywhere],
) -> Any:
    """Write a frame of Spark with noise, exactly, as Parquet; return the frame that reads it.

    Each partition draws where it is. A task that fails is tried again with other noise, and of all
    its attempts Spark commits one. The frame returned reads files, so that it never changes.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Not a streaming one.
    columns : str, list of str or None
        Which columns get noise: integers, or decimals without digits after the point. None: all.
        The others are written as they are.
    law : DiscreteGaussian, DiscreteLaplace or GeneralizedGaussian, optional
        The noise. Either this or a budget is given.
    path : str or path-like
        The folder that is made, as for ``frame.write.parquet``: the driver and all executors reach
        it by that name. Nothing may be there yet.
    rho, epsilon, delta, sensitivity, rows_per_person, disjoint
        The budget of the whole frame, and what one person changes in it: as for
        `discretegauss.add_noise`.
    overflow, modulus, integral_floats, method
        As for `discretegauss.add_noise`. Of integers, modulus is at most 2**63.
    source : "getrandom" or "chacha20", optional
        Where each executor takes its bits from.

    Returns
    -------
    pyspark.sql.DataFrame
        The same columns; those with noise are bigint, or decimal(38,0). Nulls stay null.

    Raises
    ------
    TypeError, ValueError, OverflowError
        Before any task runs: as `discretegauss.add_noise`; if there is no path.
    pyspark.errors.PySparkException
        If something is at `path`, or a task fails as often as Spark allows: also by an error of
        `discretegauss.add_noise` for the counts of a partition. Nothing is published then.
    ImportError
        If pyspark or pyarrow is not installed.

    Notes
    -----
    Spark's committer moves the files of a task when the task is done, and shows them when the job
    is done ("algorithm version 1", which is asked for). Files of attempts that failed go with the
    folder ``_temporary`` at the end. After an error Spark leaves an empty folder at `path`, and
    those on the way to it: delete them before the next try. If the driver is killed, delete the
    whole folder: it may hold two noises for the same counts.

    References
    ----------
    arXiv:2004.00010, Theorem 14: the rho of several values, each with noise of its own.

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
    folder = result_path(path, "Spark")
    if frame.isStreaming:
        raise ParameterTypeError("frame must not be a stream: its noise is written once, at once")
    fields = list(frame.schema.fields)
    at = places([field.name for field in fields], columns)
    names = [fields[i].name for i in at]
    empty = pa.schema([(fields[i].name, _arrow_type(fields[i])) for i in at]).empty_table()
    noise, result = noise_of_tasks(empty, law, **asked)
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
    # mapInArrow takes the dot of a name for that of a field, and has no way to quote it
    numbered = frame.toDF(*(f"column{i}" for i in range(len(fields))))
    writer = numbered.mapInArrow(task, schema).write.mode("error")
    # version 2 publishes file by file, so that a task that dies meanwhile is published twice
    writer.option("mapreduce.fileoutputcommitter.algorithm.version", "1").parquet(folder)
    return frame.sparkSession.read.schema(schema).parquet(folder)


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
    """Generate the batches of a partition, with these labels and noise: on a worker."""
    for batch in batches:
        labelled = type(batch).from_arrays(batch.columns, labels)
        yield noise.added_to(labelled, columns)
