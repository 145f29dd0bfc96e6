"""One guard for optional libraries."""

from __future__ import annotations

import importlib
from types import ModuleType

from foresee.errors import MissingExtraError

#: library to import -> the extra of foresee that installs it
EXTRAS = {
    **{"PIL": "images", "botorch": "bayes", "gpytorch": "bayes", "pandas": "notebook"},
    "pyarrow": "clicks",
    "ray": "ray",
    **{"onnx": "onnx", "onnxruntime": "onnx", "onnxscript": "onnx", "art": "attacks"},
}


def need(library: str) -> ModuleType:
    """Import `library`, or say which extra installs it.

    A library built for another torch fails with `OSError` or `RuntimeError` at import, not only `ImportError`; all three
    mean that it cannot be used here.

    >>> need("math").sqrt(4.0)
    2.0
    """
    try:
        return importlib.import_module(library)
    except (ImportError, OSError, RuntimeError) as error:
        extra = EXTRAS.get(library.split(".")[0])
        remedy = f"pip install 'foresee[{extra}]'" if extra else f"pip install {library}"
        raise MissingExtraError(f"{library} is needed here and could not be imported ({error}): {remedy}") from error


def available(library: str) -> bool:
    """Whether `library` imports here."""
    try:
        need(library)
    except MissingExtraError:
        return False
    return True
