"""SiGeo's first experiment: what a little training tells of a perceptron's final losses (Figures 2 and 5 to 7).

Perceptrons of 2 to 48 hidden units learn MNIST by plain gradient descent. After a few steps four statistics are taken from
the next four batches; how they order the networks is compared with the losses when the training is over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from foresee import data as data_room
from foresee.batch import Batch
from foresee.data import Data, Statistics
from foresee.errors import InputError
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Scatter
from foresee.papers.samples import Floats
from foresee.papers.workshop import Workshop
from foresee.runs.events import Announcer, Event
from foresee.scoring import scores
from foresee.seeds import derive
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import get
from foresee.statistics import correlate, mean_of_few

#: steps of 10 % warm-up as Appendix F.1 has them: 48 and 192 batches are 10 % and 40 % of MNIST's 469
TENTH = 48
#: Appendix F.1: three epochs of 60,000 digits in batches of 128, SGD (4.1 has a learning rate of 0.02)
SCHEDULE: dict[str, Any] = {"steps": 3 * 469, "lr": 0.01, "batch": 128}
#: Appendix F.1 normalises by CIFAR-10's channels; a digit has one, which gets the first
STATISTICS = Statistics((0.4914,), (0.2023,))
#: batches that the statistics are taken from
BATCHES = 4
#: what is taken, and how the figures call it
NAMES = {
    "loss": "current training loss",
    "fisher-rao": "Fisher-Rao norm",
    "mean-abs-gradient": "mean absolute gradients",
    "gradient-spread": "deviation of gradients",
}
PROXIES = {
    "loss": "current_loss",
    "fisher-rao": "fisher_rao",
    "mean-abs-gradient": "mean_abs_gradient",
    "gradient-spread": "gradient_spread",
}
PARTS = ("train", "test")


@dataclass(frozen=True)
class Trained:
    """Networks of every width under one seed: `taken[level][name]` and `final[part]`, (widths,) each."""

    taken: Mapping[int, Mapping[str, Floats]]
    final: Mapping[str, Floats]


def taken_from(network: nn.Module, batches: Sequence[Batch]) -> dict[str, float]:
    """The four statistics at weights that stay, over all parameters; NaN where there is none."""
    found = scores(network, batches, list(PROXIES.values()))
    return {name: np.nan if (value := found[proxy].value) is None else value for name, proxy in PROXIES.items()}


def trained(
    networks: Sequence[nn.Module],
    parts: Mapping[str, Data],
    levels: Sequence[int],
    seed: int,
    schedule: Mapping[str, Any],
) -> Trained:
    """Train all networks side by side on the same batches, and look at each after the steps of every level."""
    steps, size = schedule["steps"], schedule["batch"]
    looks = {round(level * TENTH / 10): level for level in levels}
    if steps < max(looks):
        raise InputError(
            f"steps = {steps}: {max(levels)} % of warm-up are {max(looks)} steps; train for at least so many"
        )
    optimisers = [torch.optim.SGD(network.parameters(), lr=schedule["lr"]) for network in networks]
    taken: dict[int, dict[str, Floats]] = {}
    for step in range(steps + 1):
        if step in looks:
            batches = [parts["train"].batch(size, seed=seed, index=step + more) for more in range(BATCHES)]
            found = [taken_from(network, batches) for network in networks]
            taken[looks[step]] = {name: np.array([one[name] for one in found]) for name in NAMES}
        if step < steps:
            batch = parts["train"].batch(size, seed=seed, index=step)
            for network, optimiser in zip(networks, optimisers, strict=True):
                optimiser.zero_grad()
                F.cross_entropy(batch.call(network), batch.labels).backward()  # type: ignore[no-untyped-call, arg-type]
                optimiser.step()
    return Trained(taken, {part: np.array([loss_of(one, parts[part]) for one in networks]) for part in PARTS})


@torch.no_grad()
def loss_of(network: nn.Module, data: Data, size: int = 1000) -> float:
    """The mean loss over a whole data set."""
    sums = [
        float(F.cross_entropy(batch.call(network), batch.labels, reduction="sum"))  # type: ignore[arg-type]
        for batch in data.epoch(size, shuffle=False)
    ]
    return sum(sums) / len(data)


def repeats_of(workshop: Workshop, levels: Sequence[int]) -> tuple[list[str], list[Trained]]:
    """The widths, and what was trained under each of the workshop's seeds."""
    settings = workshop.space_settings.get("mlp", {})
    space, schedule = get("mlp", **settings), workshop.own(SCHEDULE)
    parts = {
        part: data_room.load(workshop.looked_at(), inputs=(1, 28, 28), split=part, normalise=STATISTICS)
        for part in PARTS
    }
    if settings:
        workshop.note(
            "mlp: other networks than the paper's, with " + ", ".join(f"{k} = {v}" for k, v in settings.items())
        )
    workshop.note(
        f"{len(parts['train']):,} samples to learn from and {len(parts['test']):,} to test on; steps are counted as on all "
        f"of MNIST, so that 10 % of warm-up are {TENTH} steps"
    )
    announce, seeds = Announcer(workshop.observers), range(workshop.seed, workshop.seed + workshop.repeats)
    architectures = list(space.enumerate())
    found = []
    for done, seed in enumerate(seeds, 1):
        weights = {"weights_seed": derive(seed, "weights")}
        networks = [Candidate(space, one, parts["train"].task, weights).build() for one in architectures]
        found.append(trained(networks, parts, levels, seed, schedule))
        announce(Event("scored", done, len(seeds), done - 1))
    return [str(one) for one in architectures], found


def figure(workshop: Workshop, levels: Sequence[int], parts: Sequence[str]) -> Iterator[Found]:
    """Spearman of each statistic with each loss at each level, and the points of the first seed."""
    texts, found = repeats_of(workshop, levels)
    for part, level, name in product(parts, levels, NAMES):
        pairs = [(one.taken[level][name], one.final[part]) for one in found]
        each = [correlate(x, y, bootstrap=0, top=()).spearman.value for x, y in pairs]
        words = f"{len(texts)} widths; seeds {', '.join(f'{value:.2f}' for value in each)}"
        yield Cell(name, f"{level} %:{part} loss", mean_of_few(each), words)
        x, y = pairs[0]
        text = f"{NAMES[name]} after {level} % of warm-up and the final {part} loss, {len(texts)} perceptrons"
        yield Scatter(
            f"{name}-{level}-{part}", text, NAMES[name], f"final {part} loss", tuple(x.tolist()), tuple(y.tolist())
        )


@reproduction(
    "sigeo-figure-2",
    caption="Final losses of perceptrons against statistics after 0, 10 and 40 % warm-up",
    settings=SCHEDULE,
)
def figure_2(workshop: Workshop) -> Iterator[Found]:
    """Spearman, over perceptrons of 2, 4, ..., 48 hidden units, of four statistics with the final training and test loss.

    MNIST (--data mnist.npz), plain gradient descent with batches of 128 and a learning rate of 0.01 for 1407 steps (three
    epochs of 60,000 digits, Appendix F.1; 4.1 says 0.02: --set table.lr=0.02). After 0, 48 and 192 steps the statistics are
    taken from the next four batches at weights that stay, as the proxies current_loss, fisher_rao, mean_abs_gradient and
    gradient_spread give them. All widths see the same batches. Means over --repeats seeds (take 3), Student's interval.
    A statistic that foretells a low loss by being high has a negative coefficient. The paper has the picture only: lower
    losses go with higher gradients, a higher norm and a lower current loss, and the last two say more with warm-up.
    """
    yield from figure(workshop, (0, 10, 40), PARTS)


@reproduction(
    "sigeo-figure-5", caption="Final losses of perceptrons against statistics without warm-up", settings=SCHEDULE
)
def figure_5(workshop: Workshop) -> Iterator[Found]:
    """As sigeo-figure-2, without warm-up only."""
    yield from figure(workshop, (0,), PARTS)


@reproduction(
    "sigeo-figure-6", caption="Final losses of perceptrons against statistics after 10 % warm-up", settings=SCHEDULE
)
def figure_6(workshop: Workshop) -> Iterator[Found]:
    """As sigeo-figure-2, after 10 % warm-up (48 steps) only."""
    yield from figure(workshop, (10,), PARTS)


@reproduction(
    "sigeo-figure-7", caption="Test loss of perceptrons against statistics from 0 to 100 % warm-up", settings=SCHEDULE
)
def figure_7(workshop: Workshop) -> Iterator[Found]:
    """As sigeo-figure-2, after 0, 10, 40, 60, 80 and 100 % warm-up (0 to 480 steps), with the test loss.

    The paper has the picture only, and says that the Fisher-Rao norm gains nothing more after 40 %.
    """
    yield from figure(workshop, (0, 10, 40, 60, 80, 100), ("test",))
