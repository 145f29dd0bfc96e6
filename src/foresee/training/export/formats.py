"""The forms that a network can be written in. A new one is a class here: how it writes its file, and who reads it again."""

from __future__ import annotations

import contextlib
import logging
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import safetensors.torch
import torch
from torch import Tensor, nn

from foresee.batch import Batch
from foresee.errors import MissingExtraError, UnsupportedError, said
from foresee.extras import available, need
from foresee.training.export.answering import Answering
from foresee.training.export.verifying import Program

#: samples of the batch that is traced; none of those that are compared, so that no size is taken for granted
TRACED = 3


class Format(ABC):
    """A kind of file."""

    #: the file's name
    file: ClassVar[str]
    #: difference allowed, as a share of the largest output
    tolerance: ClassVar[float]
    summary: ClassVar[str]

    #: a library that it cannot do without, beyond those that foresee itself needs
    library: ClassVar[str] = ""

    def check(self) -> None:
        """Refuse where its library is missing, before anything is written."""
        if self.library:
            need(self.library)

    @abstractmethod
    def write(self, network: nn.Module, program: Answering, example: Batch, path: Path) -> None:
        """Write the file; `network` is the bare one, `program` gives its logits and perhaps normalises."""

    @abstractmethod
    def read(self, network: nn.Module, program: Answering, path: Path) -> tuple[Program, str]:
        """The program that the file holds, and who reads it."""


class Safetensors(Format):
    """Weights and buffers by their names, which `load_exported` puts into the network that it builds again."""

    file, tolerance = "model.safetensors", 0.0
    summary = "weights by name; `fs.load_exported` builds the network around them"

    def write(self, network: nn.Module, program: Answering, example: Batch, path: Path) -> None:
        """Every tensor as a copy of its own: weights that are tied are written twice."""
        tensors = {key: one for key, one in network.state_dict().items() if isinstance(one, Tensor)}
        safetensors.torch.save_file({key: one.detach().clone().contiguous() for key, one in tensors.items()}, path)

    def read(self, network: nn.Module, program: Answering, path: Path) -> tuple[Program, str]:
        """The same network with the weights of the file in the place of its own."""
        tensors = safetensors.torch.load_file(path)

        def run(batch: Batch) -> Tensor:
            with torch.no_grad():
                state = {f"network.{key}": value for key, value in tensors.items()}
                answer: Tensor = torch.func.functional_call(program, state, batch.parts)
                return answer

        return run, "foresee"


class TorchExport(Format):
    """A torch program (`torch.export`), for any number of samples; torch alone reads it."""

    file, tolerance = "model.pt2", 1e-4
    summary = "a program that torch alone runs: torch.export.load"

    def write(self, network: nn.Module, program: Answering, example: Batch, path: Path) -> None:
        """Trace, with the number of samples left open."""
        torch.export.save(traced(program, example, "torch_export"), path)

    def read(self, network: nn.Module, program: Answering, path: Path) -> tuple[Program, str]:
        """As anybody would."""
        made = torch.export.load(path).module()

        def run(batch: Batch) -> Tensor:
            with torch.no_grad():
                answer: Tensor = made(*batch.parts)
                return answer

        return run, f"torch {torch.__version__}"


class Onnx(Format):
    """ONNX, for any number of samples; onnxruntime and many other programs read it.

    Written with onnx (and onnxscript, where it is there); read again by onnxruntime, or slowly by onnx itself.
    """

    file, tolerance = "model.onnx", 1e-3
    summary = "an ONNX graph: onnxruntime, and many other programs"
    library = "onnx"

    def write(self, network: nn.Module, program: Answering, example: Batch, path: Path) -> None:
        """Through torch's exporter of programs, or its older one where onnxscript is missing."""
        names = list(example.names or (f"input{number}" for number in range(len(example.parts))))
        with quiet(), tracing("onnx"):
            if available("onnxscript"):
                torch.onnx.export(
                    traced(program, example, "onnx"),
                    f=str(path),
                    input_names=names,
                    output_names=["logits"],
                    external_data=False,
                    dynamo=True,
                    verbose=False,
                )
            else:
                torch.onnx.export(
                    program,
                    example.parts,
                    str(path),
                    input_names=names,
                    output_names=["logits"],
                    dynamic_axes={name: {0: "batch"} for name in [*names, "logits"]},
                    dynamo=False,
                )

    def read(self, network: nn.Module, program: Answering, path: Path) -> tuple[Program, str]:
        """By onnxruntime, where it is there."""
        run: Any
        try:
            runtime = need("onnxruntime")
            session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
            inputs, run, by = (
                [one.name for one in session.get_inputs()],
                session.run,
                f"onnxruntime {runtime.__version__}",
            )
        except MissingExtraError:
            onnx = need("onnx")
            need("onnx.reference")
            model = onnx.load(str(path))
            inputs = [one.name for one in model.graph.input]
            run, by = onnx.reference.ReferenceEvaluator(model).run, f"onnx {onnx.__version__}, its reference"

        def answer(batch: Batch) -> Tensor:
            parts = {name: part.numpy() for name, part in zip(inputs, batch.parts, strict=True)}
            return torch.from_numpy(np.asarray(run(None, parts)[0]))

        return answer, by


FORMATS: dict[str, Format] = {"safetensors": Safetensors(), "torch_export": TorchExport(), "onnx": Onnx()}


def traced(program: Answering, example: Batch, form: str) -> torch.export.ExportedProgram:
    """The program that `torch.export` finds in a run on the example, with the number of samples left open."""
    batch = torch.export.Dim("batch", min=1)
    shapes = {"inputs": tuple({0: batch} for _ in example.parts)}
    with quiet(), tracing(form):
        return torch.export.export(program, example.parts, dynamic_shapes=shapes, strict=False)


@contextlib.contextmanager
def tracing(name: str) -> Iterator[None]:
    """What goes wrong while a stranger's network is traced is one line."""
    try:
        yield
    except UnsupportedError:
        raise
    except Exception as error:  # tracers raise anything
        reason = next((line.strip() for line in said(error).splitlines() if line.strip()), "no reason given")
        if "specialized it to be a constant" in said(error):
            reason = "it fixes the number of samples: x.shape[0] leaves it open, len(x) does not"
        raise UnsupportedError(
            f"{name}: the network cannot be traced ({reason[:300]}); leave {name} out of the formats"
        ) from error


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Tracers talk a lot."""
    logger = logging.getLogger("torch")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)
