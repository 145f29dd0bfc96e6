"""`fs.load_exported`: the network of an exported folder, built again around its weights."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from torch import nn

from foresee.errors import InputError, RunError
from foresee.lazy import find
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import Said
from foresee.training import encoding
from foresee.training.checkpoints import parsed
from foresee.training.export import described
from foresee.training.export.answering import Answering
from foresee.training.export.described import Description
from foresee.training.steps import load_weights


def load_exported(folder: str | Path, *, network: nn.Module | None = None, space: Said | None = None) -> nn.Module:
    """The network, evaluating, on the CPU.

    Its weights come from `model.safetensors`, whose digest is checked; nothing is unpickled. The network is built from the
    architecture in `model.json`; code of your own is handed over: `network` (any weights), or `space` for an architecture of
    an own space. An export that takes pixels gives a network that normalises by itself, and is
    called by position. One that learnt from a click log has what encodes its rows as `preprocessing`:

        network = fs.load_exported("exported")
        batch = network.preprocessing.rows([{"I1": 3, "C1": "68fd1e64", ...}])
        probability = network(*batch.parts).sigmoid()

    >>> import tempfile, torch
    >>> from foresee.training.export import export
    >>> with tempfile.TemporaryDirectory() as there:
    ...     made = export(nn.Linear(3, 2), f"{there}/linear", ["safetensors"], example=torch.zeros(1, 3))
    ...     load_exported(made.folder, network=nn.Linear(3, 2))(torch.zeros(4, 3)).shape
    torch.Size([4, 2])
    """
    folder = Path(folder)
    facts = described.read(folder)
    if "safetensors" not in facts.files:
        raise InputError(
            f"{folder}: holds {', '.join(facts.files)} but no safetensors; use.py there runs it without foresee"
        )
    made = _built(folder, facts, network, space)
    written = facts.files["safetensors"]
    # The name in the JSON is not followed: weights lie where they always lie.
    path = folder / "model.safetensors"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RunError(f"{path}: {error.strerror or error}") from error
    if hashlib.sha256(content).hexdigest() != written.sha256:
        raise RunError(f"{path}: damaged, or of another export (its sha256 is not the one in {described.FILE})")
    load_weights(made, parsed(content, path))
    answering = (Answering(made, facts.statistics, facts.names) if facts.pixels else made).eval()
    if facts.preprocessing is not None:
        encoded: Any = answering
        encoded.preprocessing = _encoding(folder, facts.preprocessing)
    return answering


def _encoding(folder: Path, fingerprint: str) -> Any:
    found = encoding.read(folder / encoding.FOLDER)
    if found.fingerprint != fingerprint:
        raise RunError(f"{folder / encoding.FOLDER}: is of another export (its fingerprint is not in {described.FILE})")
    return found


def _built(folder: Path, facts: Description, network: nn.Module | None, space: Said | None) -> nn.Module:
    if network is not None:
        return network
    if facts.ensemble is not None:
        found: nn.Module = find("foresee.ensembles.exported", "built")(
            facts.ensemble, space, str(folder / described.FILE)
        )
        return found
    if facts.architecture is None:
        raise InputError(f"{folder}: the network is code of your own; hand one over to be filled: network=...")
    return Candidate.from_json(dict(facts.architecture), space=space, where=str(folder / described.FILE)).build(0)
