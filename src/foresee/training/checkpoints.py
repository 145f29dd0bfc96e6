"""Weights on disk: `name.safetensors` and `name.json`, of which a reader always finds a whole pair.

The tensors are written beside (`name.safetensors.new`), then the JSON, which holds their sha256, is renamed into place: from
that moment on the new pair counts. Then the tensors take their name. However a process ends, the JSON's tensors are at one of
the two names; `read` looks at both and hands out nothing that does not have the digest.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from foresee.errors import RunError
from foresee.runs.folder import write_whole

#: where the JSON keeps the digest of the tensors
DIGEST = "sha256"


def write(folder: str | Path, name: str, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> Path:
    """Put a checkpoint in the place of the one of this name; returns the path of its tensors.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write(folder, "last", {"w": torch.ones(2)}, {"step": 3})
    ...     tensors, facts = read(folder, "last")
    >>> tensors["w"].tolist(), facts
    ([1.0, 1.0], {'step': 3})
    """
    folder = Path(folder)
    place = folder / f"{name}.safetensors"
    fresh = place.with_name(place.name + ".new")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _finish(folder, name)  # what a killed process left there may be the only whole copy
        plain = {key: one.detach().to("cpu", copy=True).contiguous() for key, one in tensors.items()}
        content = safetensors.torch.save(plain)
        fresh.unlink(missing_ok=True)
        with fresh.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise RunError(f"{place}: cannot be written ({error.strerror or error})") from error
    said = {DIGEST: hashlib.sha256(content).hexdigest(), **facts}
    write_whole(folder / f"{name}.json", json.dumps(said, indent=1, allow_nan=False) + "\n")
    os.replace(fresh, place)
    return place


def read(folder: str | Path, name: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors (on the CPU) and the facts of a checkpoint; a damaged one is refused with the reason."""
    folder = Path(folder)
    facts = read_facts(folder, name)
    wanted = facts.pop(DIGEST)
    for place in _places(folder, name):
        content = _content(place)
        if content is not None and hashlib.sha256(content).hexdigest() == wanted:
            return parsed(content, place), facts
    place = _places(folder, name)[0]
    reason = "is missing" if _content(place) is None else f"does not belong to {name}.json (another sha256)"
    raise RunError(f"{place}: {reason}; the checkpoint is damaged, take another or train again")


def parsed(content: bytes, place: Path) -> dict[str, Tensor]:
    """The tensors that the bytes of a safetensors file hold."""
    try:
        return safetensors.torch.load(content)
    except Exception as error:  # its parser raises errors of its own
        raise RunError(f"{place}: not a safetensors file ({error})") from error


def read_facts(folder: str | Path, name: str) -> dict[str, Any]:
    """What the JSON of a checkpoint says, the digest of its tensors included."""
    place = Path(folder) / f"{name}.json"
    try:
        facts = json.loads(place.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunError(f"{place}: {error.strerror or error}; there is no checkpoint {name!r} here") from error
    except (ValueError, RecursionError) as error:
        raise RunError(f"{place}: not a JSON file ({error})") from error
    if not isinstance(facts, dict) or not isinstance(facts.get(DIGEST), str):
        raise RunError(f"{place}: holds no {DIGEST}; it is not the JSON of a checkpoint")
    return facts


def exists(folder: str | Path, name: str) -> bool:
    """Whether there is a checkpoint of this name."""
    return (Path(folder) / f"{name}.json").is_file()


def _finish(folder: Path, name: str) -> None:
    """Give tensors that count already their name, where the process that wrote them had no time for it."""
    place, fresh = _places(folder, name)
    content = _content(fresh)
    if content is None or not exists(folder, name):
        return
    if hashlib.sha256(content).hexdigest() == read_facts(folder, name)[DIGEST]:
        os.replace(fresh, place)


def _places(folder: Path, name: str) -> tuple[Path, Path]:
    place = folder / f"{name}.safetensors"
    return place, place.with_name(place.name + ".new")


def _content(place: Path) -> bytes | None:
    try:
        return place.read_bytes()
    except OSError:
        return None


# -- optimisers -----------------------------------------------------------------------------------------------------------
def optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """What an optimiser remembers of each parameter, as `number.what`: momentum buffers, squares, counts of steps.

    >>> w = torch.nn.Parameter(torch.ones(2))
    >>> made = torch.optim.SGD([w], lr=0.1, momentum=0.9)
    >>> w.sum().backward(); made.step()
    >>> optimiser_tensors(made)
    {'0.momentum_buffer': tensor([1., 1.])}
    """
    return {
        f"{number}.{what}": value if isinstance(value, Tensor) else torch.tensor(value)
        for number, state in optimiser.state_dict()["state"].items()
        for what, value in state.items()
        if value is not None
    }


def restore_optimiser(
    optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor], facts: Mapping[str, Any] | None = None
) -> None:
    """Inverse of `optimiser_tensors`; the rate and other settings stay those of the optimiser itself.

    `facts` are those of the checkpoint; nothing of an optimiser is among them today.
    """
    plain = optimiser.state_dict()
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        number, _, what = key.partition(".")
        state.setdefault(int(number), {})[what] = value.clone()
    count = sum(len(group["params"]) for group in plain["param_groups"])
    if any(number >= count for number in state):
        raise RunError(f"checkpoint: an optimiser of {max(state) + 1} parameters or more, this one has {count}")
    optimiser.load_state_dict({**plain, "state": state})
