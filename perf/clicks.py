"""A click log in Criteo's format, made here: read and prepared, in rows per minute and peak memory; epochs from the result.

    python -m perf.clicks [--rows 250000] [--times 4] [--folder FOLDER] [--engines]

Each measurement runs in a process of its own, so that its peak memory is its own, and says the processor time beside the
clock's. `--times 4` prepares a file of so many times the rows as well: the memory must not grow with it. `--engines` reads
the file, all fields as text, by each engine that is installed.

Seen on two cores of an aarch64 machine that had five times as much to do (load 11), so the processor's seconds say more:

        read     1 M rows in 18.8 s ( 5.8 s of processor) =  3.2 M rows a minute, peak 560 MB, 261 of them imports
    prepared     1 M rows in 55.2 s (15.8 s of processor) =  1.1 M rows a minute, peak 702 MB (of 250,000 rows: 694 MB)
       epoch   0.8 M rows in  2.6 s ( 0.7 s of processor) = 18.5 M rows a minute

On two quiet cores of an x86-64 machine (Xeon of 2.5 GHz), 500,000 rows, three runs each in turn:

    prepared   plain 7.0 M rows a minute (6.9 to 7.1), peak 705 MB; gzip 5.5 M (5.4 to 5.7), peak 515 MB

The engine was chosen by these figures (aarch64, 2 cores with other load on them, 500,000 rows = 127 MB of text, 41 MB gzip;
seconds, peak memory of the process, size of the wheel):

    pyarrow 26.0   3.3 s plain, 4.6 s gzip   273 MB   52 MB   Apache-2.0
    polars 2.1     4.0 s plain, 4.8 s gzip   288 MB   51 MB   MIT       a row of 3 fields of 40 is filled up and not told
    duckdb 2.0     5.3 s plain, 7.1 s gzip   564 MB   22 MB   MIT       tells them with their line, one for each column

pyarrow is the fastest, reads Parquet as well, and hands every row of another number of fields to a function of ours.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from foresee.extras import available
from perf.harness import How, Row

SECONDS = 40

#: how many values Criteo's 26 categories have, about
VALUES = (1460, 583, 5_000_000, 2_200_000, 305, 24, 12517, 633, 3, 93145, 5683, 4_000_000, 3194, 27, 14992, 3_000_000)
VALUES += (10, 5652, 2173, 4, 4_500_000, 18, 15, 286181, 105, 142572)
AT_ONCE = 20_000


def made(path: Path, rows: int, seed: int = 0) -> None:
    """A file of so many rows: a label, 13 counts, 26 hashed categories, some of them missing."""
    rng = np.random.default_rng(seed)
    with path.open("w") as file:
        for start in range(0, rows, AT_ONCE):
            count = min(AT_ONCE, rows - start)
            columns = [(rng.random(count) < 0.25).astype(int).astype(str)]
            for number in range(13):
                values = np.floor(np.exp(rng.normal(number / 3 + 0.5, 1.5, count))).astype(int).astype(str)
                columns.append(np.where(rng.random(count) < 0.2 * (number % 3), "", values))
            for number, most in enumerate(VALUES):
                values = np.minimum(most ** rng.random(count), most - 1).astype(np.uint64)
                hashed = (values * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
                texts = np.array([f"{value:08x}" for value in hashed.tolist()])
                columns.append(np.where(rng.random(count) < 0.05 * (number % 5), "", texts))
            file.write("\n".join(map("\t".join, zip(*(column.tolist() for column in columns), strict=True))) + "\n")


def read(path: Path, folder: Path) -> int:
    from foresee.data.clicks.reading.streaming import chunks

    return sum(len(chunk) for chunk in chunks(path, "criteo"))


def prepared(path: Path, folder: Path) -> int:
    from foresee.data.clicks.preparing.prepare import prepare
    from foresee.data.clicks.preparing.storing import manifest_of

    found = manifest_of(prepare(path, "criteo", folder))
    assert found is not None
    return int(sum(found["rows"].values()))


def epoch(path: Path, folder: Path) -> int:
    from foresee.data import load

    return sum(len(batch) for batch in load(folder, split="train").epoch(4096, seed=1))


def sequential(path: Path, folder: Path) -> int:
    """The plain way: the same bytes from front to back."""
    rows = 0
    for what in ("dense", "sparse", "labels"):
        array = np.load(folder / f"train.{what}.npy", mmap_mode="r")
        for start in range(0, len(array), 65536):
            array[start : start + 65536].sum()
        rows = len(array)
    return rows


def by_pyarrow(path: Path, folder: Path) -> int:
    import pyarrow as pa
    from pyarrow import csv

    names = [str(number) for number in range(40)]
    reader = csv.open_csv(
        path,
        csv.ReadOptions(column_names=names, block_size=8 << 20),
        csv.ParseOptions(delimiter="\t", quote_char=False),
        csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    )
    return sum(batch.num_rows for batch in reader)


def by_polars(path: Path, folder: Path) -> int:
    import polars

    table = polars.scan_csv(
        path, separator="\t", has_header=False, infer_schema=False, quote_char=None, low_memory=True
    )
    return sum(batch.height for batch in table.collect_batches(chunk_size=50_000))


def by_duckdb(path: Path, folder: Path) -> int:
    import duckdb

    columns = ", ".join(f"'{number}': 'VARCHAR'" for number in range(40))
    options = "delim='\t', quote='', escape='', header=false, auto_detect=false, store_rejects=true"
    reader = duckdb.connect().execute(f"select * from read_csv('{path}', {options}, columns={{{columns}}})")
    return sum(batch.num_rows for batch in reader.fetch_record_batch(50_000))


WAYS = {way.__name__: way for way in (read, prepared, epoch, sequential, by_pyarrow, by_polars, by_duckdb)}


def child(way: str, path: Path, folder: Path) -> None:
    import foresee.data  # what is imported is not measured

    need = foresee.data.clicks.reading.streaming.need
    for library in ("pyarrow.csv", "pyarrow.compute"):
        need(library)
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    try:
        rows = WAYS[way](path, folder)
    except ImportError as error:
        print(f"{way:>12}: {error}")
        return
    seconds, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    busy = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"{way:>12}: {path.name:>12} {rows:>10,} rows in {seconds:6.2f} s ({busy:6.2f} s of processor) = "
        f"{rows / seconds * 60 / 1e6:7.2f} M rows a minute, peak {used.ru_maxrss / 1024:,.0f} MB "
        f"({before.ru_maxrss / 1024:,.0f} of them imports)"
    )


def measured(way: str, path: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "perf.clicks", "--way", way, "--file", str(path), "--folder", str(folder)]
    subprocess.run(command, check=True)


def plainly(path: Path) -> list[list[str]]:
    """The rows as lists of fields."""
    with path.open(newline="") as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def measure(how: How) -> Iterator[Row]:
    """A log read in blocks and checked, beside the csv module; memory of preparing beside the text's size."""
    if not available("pyarrow"):
        how.skip("pyarrow is not installed")
    rows = 500 if how.quick else 40_000
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "log.tsv"
        made(path, rows)
        times = how.compare(
            {"ours": lambda: read(path, Path(name)), "plain": lambda: len(plainly(path))}, repeats=1 if how.quick else 3
        )
        how.check(times["ours"].result == times["plain"].result == rows, "the two ways read other numbers of rows")
        yield Row(f"{rows:,} rows read and checked", times["ours"].middle, times["plain"].middle, "the csv module", 3.0)


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--rows", type=int, default=250_000)
    options.add_argument("--times", type=int, default=4)
    options.add_argument("--engines", action="store_true")
    options.add_argument("--folder", type=Path)
    options.add_argument("--way", choices=sorted(WAYS), help=argparse.SUPPRESS)
    options.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.way:
        child(chosen.way, chosen.file, chosen.folder)
        return
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
        folder = Path(name)
        for rows in (chosen.rows, chosen.rows * chosen.times):
            path = folder / f"{rows // 1000}k.tsv"
            made(path, rows)
            print(
                f"{rows:,} rows, {path.stat().st_size / 2**20:.0f} MiB of text; load of the machine {os.getloadavg()[0]:.1f}"
            )
            measured("read", path, folder / "none")
            measured("prepared", path, folder / f"{rows}")
            measured("sequential", path, folder / f"{rows}")
            measured("epoch", path, folder / f"{rows}")
            if chosen.engines:
                for way in ("by_pyarrow", "by_polars", "by_duckdb"):
                    measured(way, path, folder / "none")
            if rows == chosen.rows:
                subprocess.run(["gzip", "-k", "-6", str(path)], check=True)
                measured("prepared", path.with_name(path.name + ".gz"), folder / f"{rows}.gz")
            path.unlink()
            shutil.rmtree(folder / f"{rows}")


if __name__ == "__main__":
    main()
