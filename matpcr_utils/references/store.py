"""The files of the reference snapshot: where they are, and how they are read and written."""

from __future__ import annotations

import os
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from matpcr_utils.errors import MatPCRError

if TYPE_CHECKING:
    import pyarrow as pa

#: Every file that `build` writes.
SNAPSHOT = (
    "dft.parquet",
    "structures.parquet",
    "spectra.parquet",
    "patterns.parquet",
    "pattern_structures.json",
    "calibrants.json",
    "counts.json",
)


def data_dir() -> Path:
    """Folder of the data files inside the installed package."""
    return Path(str(files("matpcr_utils"))) / "data"


def path(name: str) -> Path:
    """One shipped data file.

    Raises
    ------
    MatPCRError
        If the installation lacks it.
    """
    file = data_dir() / name
    if not file.is_file():
        raise MatPCRError(
            f"data file {name} is missing from the package: reinstall it, "
            "or run `matpcr data build`"
        )
    return file


def read_table(name: str) -> pa.Table:
    """A shipped parquet file as an Arrow table."""
    import pyarrow.parquet as pq

    # Not `pq.read_table`: it imports the dataset machinery, and pandas with it.
    with pq.ParquetFile(path(name)) as file:
        return file.read()


def write_bytes(target: Path, content: bytes) -> None:
    """Write a file under a temporary name beside `target`, then rename it into place."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(scratch).chmod(0o644)
        Path(scratch).replace(target)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


def write_table(target: Path, table: pa.Table) -> None:
    """Write parquet without schema metadata or statistics: the same table gives the same bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(
        table.replace_schema_metadata(None),
        sink,
        compression="zstd",
        compression_level=19,
        write_statistics=False,
        store_schema=False,
    )
    write_bytes(target, sink.getvalue().to_pybytes())
