"""NASI: search at initialisation by the gradient of the tangent kernel's trace norm, without training and without a list."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from foresee.batch import Batch
from foresee.checks import whole
from foresee.devices import threads
from foresee.errors import DataError, InputError, SearchError, UnknownNameError, shown
from foresee.probes.losses import choose
from foresee.searchers.base import Searcher, searchers
from foresee.searchers.gate import Proposal
from foresee.searchers.preferred import by_preference
from foresee.searchers.problem import Problem
from foresee.seeds import generator
from foresee.spaces.base import Space
from foresee.spaces.one_shot import OneShot
from foresee.task import MOST

CONSTRAINTS = ("adaptive", "fixed")
SOURCES = ("true", "random")
#: penalty, fixed limit and first limit of the adaptive one, as published; the second line is for NAS-Bench-1Shot1 and 201
PUBLISHED: Mapping[str, tuple[float, float | str, float]] = {"darts": (2.0, 100.0, 500.0), "": (1.0, "mean", 1000.0)}
#: on a GPU too, equal seeds give equal numbers, in float32
EXACT = partial(torch.backends.cudnn.flags, enabled=True, deterministic=True, allow_tf32=False)
#: so many answers are looked at, in their order, for one candidate within the limits (all there are of NAS-Bench-201); then
#: the space is drawn from
LOOKED = 16_000


@searchers.register("nasi")
class NASI(Searcher):
    """Follow the gradient of the trace norm by the architecture, once, at initialisation (Shu et al. 2022, Algorithm 1).

    The one-shot network is drawn once and never trained; batch norms see the batch. In step t the logits of all choices are
    zero, one architecture is drawn by Gumbel noise (straight through: its value, the gradient of all options; appendix B.3)
    and one batch is looked at. The trace norm is approximated by s, the squared norm of the gradient of the mean loss by the
    parameters (Eq. 12), and R = s - mu max(0, s - nu) (Eq. 14). Its gradient G by the logits, a backward run through a
    backward run, is what a step gives; no architecture is scored. After T steps the logits are
    xi / T times the sum of G_t / max(|G_1|, ..., |G_t|) (Eq. 18), and the architecture they prefer is the answer. Where it is
    outside the limits, or more are asked for, the next likely ones follow.

    Fewer steps are a beginning of more steps: what step t gives depends on neither T, mu nor nu.

    Args:
        steps: T.
        batch: samples in a batch; epochs of the data are gone through in the order that the seed draws.
        constraint: how the limit nu of a step is found: `adaptive` (Eq. 41) is the mean of a first value and of all s so far;
            `fixed` is one value.
        nu: that value; None: as published for the space; `mean` (where it is fixed): mean s of `nu_samples` draws (Eq. 40).
        nu_samples: architectures drawn for that mean, in steps of their own before the others.
        mu: penalty above the limit; None: as published for the space.
        temperature: of the softmax.
        xi: length of the one step; it does not change the answer.
        labels: `true`, or `random`: uniform over the classes.
        inputs: `true`, or `random`: standard normal numbers, with random labels.
        without: options that take no part. NASI has no zero operation in its space (App. B.2); where a space has one, cells
            that lose the signal have the steepest gradients, and the one step would lead to them.
        one_shot: options of the one-shot network, such as {"channels": 8, "layers": 5} in the DARTS spaces.
    """

    name = "nasi"
    summary = "one gradient step of the tangent kernel's trace norm by the architecture, at initialisation"
    source = "Shu et al. 2022 (NASI), Algorithm 1"
    cost = "a step: one run of the one-shot network, with all its options, forward and twice backward; no scores"
    objectives = None
    evaluations = 1
    published: ClassVar[Mapping[str, str]] = {
        "steps": "100, or 400 (Sec. 5.2, Table 4)",
        "batch": "64 (Sec. 5.2)",
        "constraint": "fixed (NASI-FIX) and adaptive (NASI-ADA) (App. B.1)",
        "nu": "DARTS: 100 fixed, 500 adaptive (Sec. 5.2); 1Shot1: 1000 adaptive (Sec. 5.1)",
        "nu_samples": "50 (App. B.1, Eq. 40)",
        "mu": "DARTS: 2 (Sec. 5.2); 1Shot1: 1 (Sec. 5.1)",
        "temperature": "1 (App. B.3)",
        "xi": "1 (Algorithm 1)",
        "labels": "true and random (Sec. 5.3)",
        "inputs": "true and random (Sec. 5.3)",
        "without": "no zero operation on DARTS (App. B.2); NAS-Bench-201: not said",
    }

    def __init__(
        self,
        problem: Problem,
        *,
        steps: int = 100,
        batch: int = 64,
        constraint: str = "adaptive",
        nu: float | str | None = None,
        nu_samples: int = 50,
        mu: float | None = None,
        temperature: float = 1.0,
        xi: float = 1.0,
        labels: str = "true",
        inputs: str = "true",
        without: Sequence[str] = ("none",),
        one_shot: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(problem)
        for key, number in (("steps", steps), ("batch", batch), ("nu_samples", nu_samples)):
            whole(f"nasi.{key} =", number, most=MOST)
        for key, word, known in (
            ("constraint", constraint, CONSTRAINTS),
            ("labels", labels, SOURCES),
            ("inputs", inputs, SOURCES),
        ):
            if word not in known:
                raise UnknownNameError(f"nasi.{key}", str(word), known)
        family = next(PUBLISHED[start] for start in PUBLISHED if self.space.name.startswith(start))
        fixed = constraint == "fixed"
        self.steps, self.batch, self.fixed, self.labels, self.inputs = steps, batch, fixed, labels, inputs
        self.nu = family[1 if fixed else 2] if nu is None else nu
        self.samples = nu_samples if fixed and self.nu == "mean" else 0
        self.mu = _number("mu", family[0] if mu is None else mu)
        if not self.samples:
            self.nu = _number("nu", self.nu)
        self.temperature, self.xi = _number("temperature", temperature, above=True), _number("xi", xi, above=True)
        self.network = self._made(one_shot or {})
        self.without = self._left_out(without)
        #: the trace norms of the draws for the limit, and of the steps; the sum of Eq. 18, and its largest gradient so far
        self.sampled: list[float] = []
        self.traces: list[float] = []
        self.total = {choice.name: [0.0] * len(choice.options) for choice in self.network.choices}
        self.largest = 0.0
        self._answers: Iterator[Any] | None = None

    def _made(self, options: Mapping[str, Any]) -> OneShot[Any]:
        if not isinstance(options, Mapping):
            raise InputError(f"nasi.one_shot = {shown(options)}: expected options by name, such as {{'channels': 8}}")
        try:
            return self.problem.one_shot(**options).train()
        except TypeError as error:
            raise InputError(f"nasi.one_shot = {shown(dict(options))}: {str(error).split('() ')[-1]}") from error

    def _left_out(self, without: Sequence[str]) -> dict[str, list[int]]:
        """By choice, the places of the options that take no part."""
        names = [without] if isinstance(without, str) else list(without)
        if not all(isinstance(name, str) for name in names):
            raise InputError(f"nasi.without = {shown(without)}: expected names of options")
        known = dict.fromkeys(option for choice in self.network.choices for option in choice.options)
        for name in names:
            if name not in known and name != "none":  # many spaces have no zero operation to leave out
                raise UnknownNameError("option in nasi.without", name, known)
        found = {
            choice.name: [place for place, option in enumerate(choice.options) if option in names]
            for choice in self.network.choices
        }
        for choice in self.network.choices:
            if len(found[choice.name]) > len(choice.options) - self.network.counts.get(choice.name, 1):
                raise InputError(f"nasi.without = {shown(without)}: too few options are left of {choice.name}")
        return found

    @classmethod
    def fits(cls, space: type[Space[Any]]) -> str:
        """It needs all choices in one network."""
        return "has no one-shot network" if space.one_shot is Space.one_shot else ""

    # -- steps --------------------------------------------------------------------------------------------------------
    def steps_before(self, candidate: int) -> int:
        """All of them before the first."""
        return self.samples + self.steps

    def step(self, number: int) -> dict[str, Any]:
        """The trace norm of one draw on one batch, and its gradient by the logits; for the mean of Eq. 40 the norm alone."""
        searching = number >= self.samples
        place = number - self.samples if searching else number
        logits = self.network.logits()
        with torch.no_grad():
            for name, places in self.without.items():
                logits[name][places] = -math.inf  # never drawn, and without a gradient
        draws = generator(self.problem.seed, "nasi", "step" if searching else "sample", place)
        weights = self.network.draw(logits, temperature=self.temperature, generator=draws)
        drawn = {choice.name: _names(choice.options, weights[choice.name]) for choice in self.network.choices}
        with threads(self.problem.scorer.settings.threads), EXACT():
            trace = self._trace(weights if searching else {name: one.detach() for name, one in weights.items()}, place)
            found: dict[str, Any] = {"trace": trace.item(), "drawn": drawn}
            if searching:
                slopes = torch.autograd.grad(trace, list(logits.values()), allow_unused=True, materialize_grads=True)
                found |= {
                    "nu": self.limit,
                    "gradient": {name: slope.tolist() for name, slope in zip(logits, slopes, strict=True)},
                }
        if not all(map(math.isfinite, [found["trace"], *_flat(found.get("gradient", {}))])):
            raise SearchError(f"nasi: in step {number} the one-shot network's gradient is no finite number")
        return found

    def _trace(self, weights: Mapping[str, Tensor], number: int) -> Tensor:
        """The squared norm of the gradient of the mean loss by the parameters, differentiable by the weights (Eq. 12)."""
        device = self.problem.device
        batch = self._batch(number).to(device)
        assert batch.labels is not None
        self.network.mix({name: vector.to(device) for name, vector in weights.items()})
        outputs = batch.call(self.network)
        loss = choose(None, outputs, [batch.labels])(outputs, batch.labels)
        gradients = torch.autograd.grad(loss, list(self.network.parameters()), create_graph=True, allow_unused=True)
        return torch.stack([one.square().sum() for one in gradients if one is not None]).sum()

    def _batch(self, number: int) -> Batch:
        """Batch `number` of the epochs, with what is asked to be random in its place."""
        noise = self.problem.noise(self.batch, number)
        if self.inputs == "random":
            return noise
        data = self.problem.data
        epoch, place = divmod(number, data.steps(self.batch, drop_last=True))
        batch = next(data.epoch(self.batch, seed=self.problem.seed, number=epoch, drop_last=True, start=place))
        if self.labels == "random":
            return batch.rebuilt(batch.parts, noise.labels)
        if batch.labels is None:
            raise DataError(f"nasi: data {data.name} has no labels; random ones serve as well (nasi.labels=random)")
        return batch

    def advance(self, number: int, outcome: Mapping[str, Any]) -> None:
        """Eq. 14 and 18: the gradient of R, divided by the largest so far, is added up."""
        if number < self.samples:
            self.sampled.append(outcome["trace"])
            return
        # R = s - mu max(0, s - nu) rises as s does up to the limit, and 1 - mu times as fast above it
        slope = 1.0 - self.mu if outcome["trace"] > self.limit else 1.0
        gradient = {name: [slope * value for value in values] for name, values in outcome["gradient"].items()}
        self.traces.append(outcome["trace"])
        self.largest = max(self.largest, math.hypot(*_flat(gradient)))
        if self.largest:
            for name, values in gradient.items():
                self.total[name] = [
                    one + value / self.largest for one, value in zip(self.total[name], values, strict=True)
                ]

    @property
    def limit(self) -> float:
        """The limit nu of the next step (Eq. 40, 41)."""
        if self.samples:
            return math.fsum(self.sampled) / len(self.sampled)
        first = float(self.nu)
        return first if self.fixed else math.fsum([first, *self.traces]) / (1 + len(self.traces))

    @property
    def logits(self) -> dict[str, list[float]]:
        """What the steps so far have found, by choice: the logits of Eq. 18."""
        return {name: [self.xi / self.steps * value for value in values] for name, values in self.total.items()}

    def _preferred(self) -> dict[str, list[float]]:
        """The logits of what takes part."""
        return {
            name: [-math.inf if place in self.without[name] else value for place, value in enumerate(values)]
            for name, values in self.logits.items()
        }

    # -- the answer ---------------------------------------------------------------------------------------------------
    def ask(self, count: int = 1) -> list[Proposal]:
        """The architecture the logits prefer, then the next likely ones, as many as the limits let in."""
        if not self.largest:
            raise SearchError(
                f"nasi: not one of {len(self.traces)} steps has a gradient: with mu = {self.mu:g} there is none above the "
                f"limit nu = {self.limit:g}, and the least trace norm was {min(self.traces):g}; give a larger nasi.nu, or "
                "another nasi.mu"
            )
        if self._answers is None:
            self._answers = map(self.network.derive, by_preference(self._preferred()))
        proposals = []
        for _ in range(count):
            proposal = self._next_answer(self._answers)
            proposal = proposal or self.gate.draw(lambda rng, attempt: (self.space.sample(rng), None))
            if proposal is None:
                break
            proposals.append(proposal)
        return proposals

    def _next_answer(self, answers: Iterator[Any]) -> Proposal | None:
        for architecture, _ in zip(answers, range(LOOKED), strict=False):
            proposal = self.gate.admit(architecture)
            if proposal is not None:
                return proposal
        return None

    def state(self) -> dict[str, Any]:
        """As the base, with the logits and the limit."""
        known = not self.samples or bool(self.sampled)
        return {**super().state(), "logits": self.logits, "nu": self.limit if known else None, "largest": self.largest}


def _names(options: Sequence[str], weights: Tensor) -> list[str]:
    """The options that were drawn."""
    return [option for option, weight in zip(options, weights.tolist(), strict=True) if weight]


def _flat(by_choice: Mapping[str, Sequence[float]]) -> list[float]:
    return [value for values in by_choice.values() for value in values]


def _number(key: str, value: Any, *, above: bool = False) -> float:
    """Refuse what is no number from 0 on, or above it."""
    real = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if real and (value > 0 or (value == 0 and not above)):
        return float(value)
    raise InputError(f"nasi.{key} = {shown(value)}: expected a number {'above' if above else 'of at least'} 0")
