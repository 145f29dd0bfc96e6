"""Any network gets a score or a status with its reason, the same twice; network, batch and random states are as before.

Residents of the zoo of `foresee.testing`, alone or several in one network, scored by several proxies together.
"""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import foresee as fs
from foresee.batch import Batch
from foresee.errors import InputError
from foresee.proxies import proxies
from foresee.proxies.base import STATUSES, Score
from foresee.testing import zoo
from foresee.testing.photographs import Photograph
from foresee.testing.samples import random_states
from hostile.promises import or_refused

SECONDS = 120.0
NETWORKS_PER_CASE = 4


def case(rng: random.Random, folder: Path) -> None:
    """Some networks, each scored twice by some proxies."""
    torch.set_num_threads(1)
    for _ in range(NETWORKS_PER_CASE):
        names, seed = rng.sample(zoo.names(), rng.choice([1, 1, 2, 3])), rng.randrange(1000)
        network: nn.Module = zoo.made(names[0], seed)
        if len(names) > 1:
            network = Together(network, *(zoo.made(name, seed) for name in names[1:]))
        training = rng.random() < 0.5
        for module in network.modules():  # `eval` would go round in circles where a module holds itself
            module.training = training
        chosen = rng.sample(proxies.names(), 3)
        more: dict[str, Any] = rng.choice([{}, {}, {"repeats": 2}, {"initialise": "he"}])
        (folder / "steps.txt").write_text(f"a network that {names}, seed {seed}, by {chosen}, {more}\n")
        what = f"a network that {' and '.join(names)}"
        _score_twice(network, zoo.batch(rng.choice([1, 2, 8, 13]), seed), chosen, what, {"seed": 1, **more})


class Together(nn.Module):
    """Several networks on the same inputs, which the first may change for the next; the sum of their logits."""

    def __init__(self, *inner: nn.Module) -> None:
        super().__init__()
        self.inner = nn.ModuleList(inner)

    def forward(self, x: Tensor) -> Any:
        """The last answer where not all can be added."""
        answers = [network(x) for network in self.inner]
        plain = all(isinstance(one, Tensor) and one.shape == (len(x), 3) for one in answers)
        return sum(answers) if plain else answers[-1]


def _score_twice(network: nn.Module, batch: Batch, chosen: list[str], what: str, more: dict[str, Any]) -> None:
    given = [part.clone() for part in batch.parts]
    before, states = Photograph(network), _process()
    found: list[dict[str, Score]] = []
    for turn in ("", " the second time"):
        with or_refused(what, by=InputError):  # labels that do not fit the outputs are the caller's mistake
            found.append(fs.scores(network, batch, chosen, **more))
            for one in found[-1].values():
                _check(one, what)
        by = f"by {', '.join(chosen)}{turn}"
        changed = before.differences(Photograph(network))
        assert not changed, f"the network was changed\n{changed[:5]}, {what}, {by}"
        assert all(map(torch.equal, given, batch.parts)), f"the batch was changed\n{what}, {by}"
        assert states == _process(), f"random states were moved, or settings of torch\n{what}, {by}"
    assert len(found) in (0, 2), f"{what}: scored once, and refused the other time"
    for name, first in found[0].items() if found else ():
        second = found[1][name]
        same = (first.value, first.status, first.reason) == (second.value, second.status, second.reason)
        assert same, f"another score the second time\n{what}: {name} is {first}, and then {second}"


def _check(one: Score, what: str) -> None:
    assert one.status in STATUSES, f"{what}: {one.proxy} has the status {one.status!r}"
    if one.ok:
        assert one.value is not None, f"{what}: {one.proxy} is ok without a value"
        assert math.isfinite(one.value), f"{what}: {one.proxy} is {one.value}"
    else:
        assert one.value is None, f"{what}: {one.proxy} has a value and the status {one.status}"
        assert one.reason.strip(), f"{what}: {one.proxy} is {one.status} without a reason"


def _process() -> tuple[Any, ...]:
    return *random_states(), torch.get_default_dtype(), torch.is_grad_enabled()
