"""Images that were published as pickles, read without running anything.

A pickle can run any code. `_Reader` lets through only the few names that a pickled array of bytes needs, and gives them
stand-ins that do nothing but hold what they are handed: no code of the file's choosing runs, not even numpy's.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from typing import Any

import numpy as np

from foresee.data.held import Array


def images_and_labels(content: bytes, labels_key: str, width: int) -> tuple[Array, Array]:
    """A pickled dictionary with `data`, (n, width) bytes, and a list of whole numbers; a `ValueError` where it is not that.

    >>> written = pickle.dumps({"data": np.zeros((2, 3), np.uint8), "labels": [4, 5]})
    >>> [array.tolist() for array in images_and_labels(written, "labels", 3)]
    [[[0, 0, 0], [0, 0, 0]], [4, 5]]
    """
    found = _unpickle(content)
    if not isinstance(found, dict):
        raise ValueError(f"expected a dictionary, found {type(found).__name__}")
    entries = {key.decode("latin1") if isinstance(key, bytes) else key: value for key, value in found.items()}
    if "data" not in entries or labels_key not in entries:
        raise ValueError(f"expected the keys data and {labels_key}, found {', '.join(sorted(map(str, entries)))}")
    data, labels = entries["data"], entries[labels_key]
    if not isinstance(data, _Array):
        raise ValueError(f"data is a {type(data).__name__}, expected an array")
    images = data.unpack(width)
    if not isinstance(labels, list) or any(type(label) is not int for label in labels):
        raise ValueError(f"{labels_key} must be a list of whole numbers")
    if len(labels) != len(images):
        raise ValueError(f"{len(images)} images but {len(labels)} labels")
    return images, np.array(labels, np.int64)


class _Array:
    """Stands in for a pickled numpy array: holds its state as plain values."""

    def __init__(self, shape: Any = None, dtype: Any = None, fortran: Any = False, content: Any = None) -> None:
        self.shape, self.dtype, self.fortran, self.content = shape, dtype, fortran, content

    def __setstate__(self, state: Any) -> None:
        _version, self.shape, self.dtype, self.fortran, self.content = state

    def unpack(self, width: int) -> Array:
        """The bytes as (n, width) uint8, or an error that says what they are instead."""
        kind = self.dtype.kind if isinstance(self.dtype, _DType) else None
        if kind not in ("u1", b"u1") or not isinstance(self.content, bytes | bytearray):
            raise ValueError(f"data has the type {kind!r}, expected bytes (u1)")
        shape = self.shape
        if not isinstance(shape, tuple) or len(shape) != 2 or shape[1] != width or shape[0] < 1:
            raise ValueError(f"data has the shape {shape}, expected (n, {width}) with n at least 1")
        if len(self.content) != shape[0] * width:
            raise ValueError(f"data has {len(self.content)} bytes, expected {shape[0] * width}")
        return np.frombuffer(self.content, np.uint8).reshape(shape, order="F" if self.fortran else "C")


class _DType:
    """Stands in for a pickled numpy dtype: only its name matters here."""

    def __init__(self, kind: Any, *_: Any) -> None:
        self.kind = kind

    def __setstate__(self, state: Any) -> None:
        """Byte order, fields and flags mean nothing for single bytes."""


class _Reader(pickle.Unpickler):
    """Lets through the names that a pickled array of bytes uses, each as a stand-in, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """A stand-in, or a refusal that names what was asked for.

        The functions are made anew each time: a pickle may set attributes on what it finds, and these go with it.
        """
        match module, name:
            case (("numpy.core.multiarray" | "numpy._core.multiarray"), "_reconstruct"):
                return lambda *_: _Array()
            case (("numpy.core.numeric" | "numpy._core.numeric"), "_frombuffer"):
                return lambda content, dtype, shape, order, *_: _Array(shape, dtype, order == "F", content)
            case "numpy", "ndarray":
                return _Array
            case "numpy", "dtype":
                return _DType
            case "_codecs", "encode":
                return lambda text, encoding: _latin1(text, encoding)
        raise pickle.UnpicklingError(
            f"it asks for {module}.{name}, which such a file never needs; refused, nothing was run"
        )


def _latin1(text: Any, encoding: Any) -> bytes:
    """How Python 3 writes bytes into the protocols of Python 2."""
    if not isinstance(text, str) or encoding != "latin1":
        raise pickle.UnpicklingError(
            f"it encodes a {type(text).__name__} as {encoding!r}; only text as latin1 is expected"
        )
    return text.encode("latin1")


def _unpickle(content: bytes) -> Any:
    # The memo is an array inside, numbered as it grows: a number far ahead would only serve to exhaust memory.
    for count, (opcode, argument, _) in enumerate(pickletools.genops(content)):
        if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and isinstance(argument, int) and argument > count:
            raise ValueError(f"memo number {argument} after {count} steps: damaged")
    # The published files were written by Python 2: its texts are bytes.
    return _Reader(io.BytesIO(content), encoding="bytes").load()
