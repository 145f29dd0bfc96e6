"""Benchmark files that are pickles, read only on request, in a process of their own, into nothing but plain values.

A pickle can run anything. So `foresee table convert --trust-pickle` is needed, and even then `PlainUnpickler` makes only
containers, texts and numbers: every other class or function the file names becomes a stand-in that holds nothing (tensors of
trained weights among them, which we do not need). The child process hands back a table in our own form, which is checked like
any other file; whatever happens in the child stays there.
"""

from __future__ import annotations

import bz2
import io
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np

from foresee.benchmarks.formats import nats, own, transnas
from foresee.benchmarks.formats.base import File, Format, reading
from foresee.benchmarks.table import Table
from foresee.errors import DataError, ForeseeError

#: first value of files written by torch before its zip form
_TORCH_MAGIC = 0x1950A86A20F9469CFC6C
_BZIP2 = b"BZh"
_MEMBER = re.compile(r"(\d+)(-FULL)?\.(pth|pickle\.pbz2)")


class Nothing:
    """Stands in for whatever is not plain: takes all that a pickle does to an object, and keeps none of it."""

    def __new__(cls, *_: Any, **__: Any) -> Nothing:  # noqa: D102
        return super().__new__(cls)

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __call__(self, *_: Any, **__: Any) -> Nothing:  # noqa: D102
        return self

    def __setstate__(self, state: Any) -> None: ...

    def __setitem__(self, key: Any, value: Any) -> None: ...

    def append(self, value: Any) -> None:
        """Ignored."""

    def extend(self, values: Any) -> None:
        """Ignored."""

    def add(self, value: Any) -> None:
        """Ignored."""


def _scalar(kind: np.dtype[Any], content: bytes = b"") -> Any:
    return np.frombuffer(content, kind)[0].item()


class PlainUnpickler(pickle.Unpickler):
    """Unpickles containers, texts and numbers; everything else becomes `Nothing`."""

    _PLAIN: ClassVar[dict[tuple[str, str], Any]] = {
        ("collections", "OrderedDict"): dict,
        ("collections", "defaultdict"): lambda *_: {},
        # Python 2's names too: older forms of pickles use them, whoever writes
        **{
            (module, kind.__name__): kind
            for module in ("builtins", "__builtin__")
            for kind in (set, frozenset, bytearray)
        },
        ("_codecs", "encode"): lambda text, how="latin1": text.encode("latin1"),
        ("numpy", "dtype"): np.dtype,
        ("numpy.core.multiarray", "scalar"): _scalar,
        ("numpy._core.multiarray", "scalar"): _scalar,
    }

    def find_class(self, module: str, name: str) -> Any:
        """The plain thing of this name, or a stand-in."""
        return self._PLAIN.get((module, name), Nothing)

    def persistent_load(self, pid: Any) -> Any:
        """Torch keeps its tensors' storage outside; it is not read."""
        return Nothing()


def load_plain(path: Path) -> Any:
    """The plain part of a pickle: bare, in bzip2, or as torch writes it (zip or older)."""
    with reading(str(path), "a pickle"), _opened(path) as file:
        first = PlainUnpickler(file, encoding="latin1").load()
        if first == _TORCH_MAGIC:
            for _ in range(2):  # the version of the form, and of the system that wrote it
                PlainUnpickler(file, encoding="latin1").load()
            return PlainUnpickler(file, encoding="latin1").load()
        return first


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            name = next((name for name in archive.namelist() if name.endswith("data.pkl")), None)
            if name is None:
                raise DataError(f"{path}: a zip file without data.pkl; expected one that torch wrote")
            yield io.BytesIO(archive.read(name))
        return
    with path.open("rb") as file:
        packed = file.read(len(_BZIP2)) == _BZIP2
    with bz2.open(path) if packed else path.open("rb") as file:
        yield file  # type: ignore[misc]


# -- what is in it ------------------------------------------------------------------------------------------------------
def read(file: File, space: str | None) -> Table:
    """The table of a benchmark's pickle, or of a folder with one file for each architecture. Only in the child."""
    if file.path.is_dir():
        return nats.read(file, _folder(file.path), space)
    plain = load_plain(file.path)
    if isinstance(plain, dict) and {"meta_archs", "arch2infos"} <= plain.keys():
        return nats.read(file, nats.whole(plain, file.where), space)
    if isinstance(plain, dict) and {"data", "task_list"} <= plain.keys():
        return transnas.read(file, plain, space)
    if isinstance(plain, dict) and plain and all(nats.is_result(part) for part in plain.values()):
        return nats.read(file, [(None, plain)], space)
    keys = ", ".join(map(str, list(plain)[:5])) if isinstance(plain, dict) else type(plain).__name__
    raise DataError(
        f"{file.where}: holds {keys}; expected NAS-Bench-201, NATS-Bench (meta_archs, arch2infos) or TransNAS-Bench-101 "
        "(data, task_list)"
    )


def _folder(folder: Path) -> Iterator[tuple[str | None, Any]]:
    """(text if known, results) of each architecture in a folder, in the benchmark's order."""
    meta = folder / "meta.pickle.pbz2"
    plain = load_plain(meta) if meta.is_file() else {}
    texts = plain.get("meta_archs", ()) if isinstance(plain, dict) else ()
    found = {int(match[1]): path for path in folder.iterdir() if (match := _MEMBER.fullmatch(path.name))}
    for number, path in sorted(found.items()):
        yield (texts[number] if number < len(texts) else None), load_plain(path)


def _recognises(file: File) -> bool:
    if file.path.is_dir():
        return any(_MEMBER.fullmatch(path.name) for path in file.path.iterdir())
    if any(name.endswith("data.pkl") for name in file.members):
        return True
    return file.head[:3] == _BZIP2 or (file.head[:1] == b"\x80" and file.head[1:2] in b"\2\3\4\5")


FORMAT = Format(
    "pickle", "NAS-Bench-201, NATS-Bench and TransNAS-Bench-101 files (pickles)", _recognises, read, pickled=True
)


# -- the child ----------------------------------------------------------------------------------------------------------
def in_child(file: File, space: str | None) -> Table:
    """Read a pickle in another process, which hands back the table in our own form."""
    with tempfile.TemporaryDirectory(prefix="foresee-") as folder:
        result = Path(folder) / "table.npz"
        command = [sys.executable, "-P", "-m", __name__, str(file.path.resolve()), str(result), space or ""]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)  # noqa: S603
        if done.returncode == 0:
            return own.read(File(result), None)
        said = done.stderr.strip().splitlines()
        if done.returncode == 2 and said:
            raise DataError(said[-1])
        why = said[-1] if said else f"exit code {done.returncode}"
        if done.returncode < 0:
            why = f"{signal.Signals(-done.returncode).name}; is there enough memory?"
        raise DataError(f"{file.where}: the process that read it died ({why})")


def main(arguments: list[str]) -> int:
    """The child: read, write the table in our own form; a mistake is one line and exit code 2."""
    path, result, space = arguments
    try:
        own.write(read(File(Path(path)), space or None), Path(result))
    except ForeseeError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
