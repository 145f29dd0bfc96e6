"""Any network gets a score or a status with its reason, the same twice; network, batch and random states are as before.

Networks of every kind with hostile pieces in and around them (in place, random, sparse, hooked, NaN, raising, odd outputs).
"""

from __future__ import annotations

import copy
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import foresee as fs
from foresee.batch import Batch
from foresee.errors import InputError
from foresee.proxies import proxies
from foresee.proxies.base import STATUSES, Score
from foresee.testing import networks
from hostile.pieces import composed
from hostile.promises import or_refused

SECONDS = 120.0
NETWORKS_PER_CASE = 4


def case(rng: random.Random, folder: Path) -> None:
    """Some networks, each scored twice by some proxies."""
    torch.set_num_threads(1)
    for _ in range(NETWORKS_PER_CASE):
        kind, seed = rng.choice(networks.KINDS), rng.randrange(1000)
        network, names = composed(networks.network(kind, seed), rng)
        network.train(rng.random() < 0.5)
        chosen = rng.sample(proxies.names(), 3)
        (folder / "steps.txt").write_text(f"{kind}, seed {seed}, {names}, by {chosen}\n")
        _score_twice(network, networks.batch(kind, 8, seed), chosen, f"{' of '.join(reversed(names))} of {kind}")


def _score_twice(network: nn.Module, batch: Batch, chosen: list[str], what: str) -> None:
    given = [part.clone() for part in batch.parts]
    before, states = photograph(network), _random_states()
    found: list[dict[str, Score]] = []
    for turn in ("", " the second time"):
        with or_refused(what, by=InputError):  # labels that do not fit the outputs are the caller's mistake
            found.append(fs.scores(network, batch, chosen, seed=1))
            for one in found[-1].values():
                _check(one, what)
        by = f"by {', '.join(chosen)}{turn}"
        after = photograph(network)
        changed = sorted(key for key in before.keys() | after.keys() if not _same(before.get(key), after.get(key)))
        assert not changed, f"the network was changed\n{changed[:5]}, {what}, {by}"
        assert all(map(_same, given, batch.parts)), f"the batch was changed\n{what}, {by}"
        assert all(map(_same, states, _random_states())), f"random states were moved\n{what}, {by}"
    assert len(found) in (0, 2), f"{what}: scored once, and refused the other time"
    for name, first in found[0].items() if found else ():
        second = found[1][name]
        same = (first.value, first.status) == (second.value, second.status)
        assert same, f"another score the second time\n{what}: {name} is {first}, and then {second}"


def _check(one: Score, what: str) -> None:
    assert one.status in STATUSES, f"{what}: {one.proxy} has the status {one.status!r}"
    if one.ok:
        assert one.value is not None, f"{what}: {one.proxy} is ok without a value"
        assert math.isfinite(one.value), f"{what}: {one.proxy} is {one.value}"
    else:
        assert one.value is None, f"{what}: {one.proxy} has a value and the status {one.status}"
        assert one.reason.strip(), f"{what}: {one.proxy} is {one.status} without a reason"


# -- comparing ------------------------------------------------------------------------------------------------------------
def photograph(network: nn.Module) -> dict[str, Any]:
    """Everything about a network that can be compared, containers in its attributes among it."""
    seen: dict[str, Any] = {}
    for name, module in network.named_modules():
        for key, value in vars(module).items():
            if "hooks" in key:
                seen[f"{name}.{key}"] = list(value)
            elif key not in ("_parameters", "_buffers", "_modules"):
                seen[f"{name}.{key}"] = copy.deepcopy(value) if isinstance(value, list | dict | tuple) else value
    for name, tensor in (*network.named_parameters(), *network.named_buffers()):
        seen[f"{name} object"] = id(tensor)
        seen[f"{name} values"] = tensor.detach().clone()
        seen[f"{name} type"] = (tensor.dtype, tensor.requires_grad, tensor.layout)
        seen[f"{name} gradient"] = None if tensor.grad is None else tensor.grad.clone()
    return seen


def _random_states() -> tuple[Any, ...]:
    return random.getstate(), str(np.random.get_state()), torch.get_rng_state()  # noqa: NPY002


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        if first.layout != second.layout:
            return False
        dense = (first.to_dense(), second.to_dense()) if first.layout == torch.sparse_coo else (first, second)
        return dense[0].shape == dense[1].shape and torch.equal(dense[0].nan_to_num(7.5), dense[1].nan_to_num(7.5))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_same(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    return bool(first is second or first == second)
