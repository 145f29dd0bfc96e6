"""`fs.export`: a network written in several forms, each read again and compared before anybody sees the folder."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from foresee.batch import Batch
from foresee.data.base import Data
from foresee.data.normalising import Statistics
from foresee.errors import InputError, RunError, UnknownNameError, UnsupportedError, said
from foresee.handed import as_batches
from foresee.runs.environment import installed
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import Said
from foresee.task import Task
from foresee.training import encoding
from foresee.training.export import described, texts
from foresee.training.export.answering import Answering
from foresee.training.export.described import Description, Written
from foresee.training.export.formats import FORMATS, TRACED
from foresee.training.export.sources import source_of
from foresee.training.export.verifying import SIZES, compared, fresh


@dataclass(frozen=True)
class Exported:
    """A folder that holds an export, and what it says of itself."""

    folder: Path
    description: Description

    def __repr__(self) -> str:
        files = ", ".join(f"{one.file} (difference {one.difference:.2g})" for one in self.description.files.values())
        return f"<Exported to {self.folder}: {files}>"


def export(
    network: Any,
    folder: str | Path,
    formats: Sequence[str] = ("safetensors", "torch_export"),
    *,
    example: Any = None,
    pixels: bool | None = None,
    statistics: Statistics | None = None,
    classes: Sequence[str] = (),
    candidate: Candidate | None = None,
    code: nn.Module | None = None,
    space: Said | None = None,
    seed: int = 0,
    overwrite: bool = False,
) -> Exported:
    """Write a network to a folder, in forms that others can use.

    Args:
        network: a module; what `fs.train` or `fs.ensemble` returned; the folder of either, or a checkpoint.
        folder: is made; one that holds an export already is replaced only with `overwrite`.
        formats: any of safetensors, torch_export, onnx.
        example: inputs, for a module whose task nobody knows: a tensor, a batch, a loader, a data set.
        pixels: the programs (torch_export, onnx) normalise by themselves and take pixels of 0 to 1; None: those of an
            ensemble do, where it is known what normalises, and those of a single network do not.
        statistics: what inputs are normalised by; a training knows it.
        classes: names of the outputs; a training on folders knows them.
        candidate: the architecture of a module that was built from one, so that it can be built again.
        code: for a folder whose network is code of your own: that network, into which the weights are put.
        space: for an architecture of an own space: the function or the space.
        seed: draws the inputs that are compared.
        overwrite: replace an export that is there.

    Every file is read again and run on fresh inputs, batches of 1, 2 and 5 samples; a difference above the tolerance (0 for
    weights, 1e-4 of the largest output for torch_export, 1e-3 for onnx) is an error, and nothing is left behind. The network
    is copied to the CPU and evaluated; the one handed over stays as it is.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as there:
    ...     made = export(nn.Linear(3, 2), f"{there}/linear", ["safetensors"], example=torch.zeros(1, 3))
    ...     made.description.files["safetensors"].difference
    0.0
    """
    for name in formats:
        if name not in FORMATS:
            raise UnknownNameError("format", name, FORMATS)
        FORMATS[name].check()
    if not formats:
        raise InputError(f"export: no formats; expected some of {', '.join(FORMATS)}")
    found = source_of(network, network=code, space=space)
    found = replace(
        found,
        candidate=candidate or found.candidate,
        statistics=statistics or found.statistics,
        classes=tuple(classes) or found.classes,
    )
    if pixels is None:
        pixels = found.ensemble is not None and found.statistics is not None
    if pixels and found.statistics is None:
        raise InputError("export: pixels need to know what inputs are normalised by; hand over statistics=")
    task = found.task or (None if found.candidate is None else found.candidate.task)
    given = _example(example, task)
    bare = _copied(found.network)
    program = Answering(bare, found.statistics if pixels else None, given.names).eval()
    _check_classes(found.classes, program, given)
    facts = Description(
        task=task,
        inputs=tuple((tuple(part.shape[1:]), str(part.dtype).removeprefix("torch.")) for part in given.parts),
        names=given.names,
        classes=found.classes,
        statistics=found.statistics,
        pixels=pixels,
        architecture=None if found.candidate is None else _plain(found.candidate),
        ensemble=found.ensemble,
        preprocessing=None if found.preprocessing is None else found.preprocessing.fingerprint,
        made_by={key: installed(key) for key in ("foresee", "torch")},
    )
    with _appearing(Path(folder), overwrite) as place:
        files = {
            name: _written(name, bare, program, given, task, place, pixels=pixels, seed=seed)
            for name in dict.fromkeys(formats)
        }
        facts = replace(facts, files=files)
        encoding.keep(found.preprocessing, place)
        _beside(place, facts, program, fresh(task, given, 2, pixels=pixels, seed=seed + 1))
    return Exported(Path(folder), facts)


def _written(
    name: str,
    bare: nn.Module,
    program: Answering,
    example: Batch,
    task: Task | None,
    place: Path,
    *,
    pixels: bool,
    seed: int,
) -> Written:
    kind = FORMATS[name]
    path = place / kind.file
    kind.write(bare, program, example, path)
    other, by = kind.read(bare, program, path)
    batches = [fresh(task, example, size, pixels=pixels, seed=seed) for size in SIZES]
    difference, tolerance = compared(name, lambda batch: _answer(program, batch), other, batches, kind.tolerance)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Written(kind.file, digest, difference, tolerance, SIZES, by)


def _beside(place: Path, facts: Description, program: Answering, example: Batch) -> None:
    """`model.json`, `README.md`, `use.py` and an example that `use.py` runs."""
    arrays = {f"input{number}": part.numpy() for number, part in enumerate(example.parts)}
    arrays["logits"] = _answer(program, example).numpy()
    np.savez(place / "example.npz", allow_pickle=False, **arrays)
    (place / "README.md").write_text(texts.readme(facts), encoding="utf-8")
    (place / "use.py").write_text(texts.use(facts), encoding="utf-8")
    text = json.dumps(facts.to_json(), indent=2, allow_nan=False)
    (place / described.FILE).write_text(text + "\n", encoding="utf-8")


def _answer(program: Answering, batch: Batch) -> Tensor:
    with torch.no_grad():
        answer: Tensor = program(*batch.parts)
        return answer


def _example(given: Any, task: Task | None) -> Batch:
    """Inputs that the network takes, `TRACED` samples of them."""
    if given is None and task is None:
        raise InputError("export: of this module nobody knows what goes in; hand over example= (a tensor, or a batch)")
    if given is None:
        assert task is not None
        return Batch(task.example(TRACED))
    batch = given.batch(1) if isinstance(given, Data) else as_batches(given)[0]
    batch = Batch(batch.inputs).to("cpu")
    return batch[torch.arange(TRACED) % len(batch)]


def _copied(network: nn.Module) -> nn.Module:
    try:
        return copy.deepcopy(network).to("cpu").eval().requires_grad_(False)
    except Exception as error:  # of a stranger's module
        raise UnsupportedError(f"export: the network cannot be copied ({said(error).splitlines()[0]})") from error


def _check_classes(classes: tuple[str, ...], program: Answering, example: Batch) -> None:
    try:
        outputs = _answer(program, example)
    except Exception as error:  # of a stranger's module
        if isinstance(error, UnsupportedError):
            raise
        shapes = ", ".join(str(tuple(part.shape)) for part in example.parts)
        raise InputError(
            f"export: the network does not run on inputs of shape {shapes} ({said(error).splitlines()[0]})"
        ) from error
    if classes and outputs.ndim > 1 and len(classes) > outputs.shape[1]:
        raise InputError(f"export: {len(classes)} names of classes for {outputs.shape[1]} outputs")


def _plain(candidate: Candidate) -> dict[str, Any]:
    return Candidate(candidate.space, candidate.architecture, candidate.task).to_json()


@contextmanager
def _appearing(folder: Path, overwrite: bool) -> Iterator[Path]:
    """A folder to write to that takes its name when all is well, and is gone when it is not."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise RunError(f"{folder}: is no folder, and is not replaced; choose another")
    there = folder.is_dir() and any(folder.iterdir())
    if there and not (folder / described.FILE).is_file():
        raise RunError(f"{folder}: holds something else than an export; choose another folder")
    if there and not overwrite:
        raise RunError(f"{folder}: an export is there; say overwrite to replace it, or choose another folder")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise RunError(f"{folder}: cannot be made ({error.strerror or error})") from error
    try:
        yield place
        place.chmod(0o777 & ~_umask())  # temporary folders are their maker's alone
        if folder.is_dir():
            old = place.with_name(f"{place.name}.old")
            os.replace(folder, old)
            os.replace(place, folder)
            shutil.rmtree(old)
        else:
            os.replace(place, folder)
    except OSError as error:
        raise RunError(f"{folder}: cannot be written ({error.strerror or error})") from error
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _umask() -> int:
    """What new files are kept from; asking for it means setting it."""
    old = os.umask(0)
    os.umask(old)
    return old
