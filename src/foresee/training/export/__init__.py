"""A trained network as files that others can use: weights with a description, a torch program, ONNX.

    exported = fs.export(trained, "exported", formats=("safetensors", "torch_export", "onnx"))
    network = fs.load_exported("exported")

Every file is read again and its outputs compared with the network's on fresh inputs before the folder appears.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foresee.lazy import lazily

_HOMES = {
    "Exported": "foresee.training.export.exporting",
    "export": "foresee.training.export.exporting",
    "load_exported": "foresee.training.export.loading",
}

if TYPE_CHECKING:
    from foresee.training.export.exporting import Exported, export
    from foresee.training.export.loading import load_exported

__all__ = ["Exported", "export", "load_exported"]

__getattr__, __dir__ = lazily(__name__, _HOMES)
