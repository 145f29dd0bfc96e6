"""What searchers share that train a one-shot network: its weights, the halves of the data, and epochs as steps.

A searcher of this family reads like its algorithm: `learn(number)` is what it does with one batch (or one of each half), and
`outcome()` what is to be stored of an epoch. The rest is here.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from foresee.batch import Batch
from foresee.checks import whole
from foresee.devices import threads
from foresee.errors import InputError, RunError, SearchError, shown
from foresee.probes.losses import choose
from foresee.searchers.base import Searcher
from foresee.searchers.gate import Proposal
from foresee.searchers.nasi import EXACT, LOOKED
from foresee.searchers.one_shot.halves import Halves
from foresee.searchers.one_shot.kept import Kept, named, optimiser_of, part_of, restore
from foresee.searchers.problem import Problem
from foresee.searchers.supernet import SEARCH_FORM, why_not
from foresee.spaces.base import Space
from foresee.spaces.one_shot import OneShot
from foresee.spaces.weighing import Weights
from foresee.task import MOST
from foresee.training.schedules import cosine


class OneShotSearcher(Searcher):
    """Base of searchers that train a one-shot network. Batch norms see the batch, in training and in judging.

    Args:
        epochs: steps of the search; in each the training half is gone through once.
        batches: batches in an epoch; None: as many as the half has.
        batch: samples in a batch, of either half.
        lr: rate of SGD for the weights in the first epoch.
        lr_min: in the last one, after a cosine.
        momentum: of SGD.
        weight_decay: of the weights.
        clip: longest gradient of the weights; 0: any length.
        crop: padding with which images of the training half are cropped at random; 0: none.
        flip: whether every second image of the training half is mirrored.
        one_shot: options of the one-shot network, such as {"channels": 8, "layers": 5} in the DARTS space.
    """

    evaluations = 1
    step_name = "epochs"
    cost = "epochs of the one-shot network, trained on half of the data; no scores"
    #: names of its settings: attributes, whose value in the class is the paper's
    settings: ClassVar[tuple[str, ...]] = (
        *("epochs", "batches", "batch", "lr", "lr_min", "momentum", "weight_decay", "clip"),
        *("crop", "flip", "one_shot"),
    )
    epochs: int = 50
    batches: int | None = None
    batch: int = 64
    lr: float = 0.025
    lr_min: float = 0.001
    momentum: float = 0.9
    weight_decay: float = 3e-4
    clip: float = 5.0
    crop: int = 4
    flip: bool = True
    one_shot: Mapping[str, Any] | None = None
    #: whether the momentum is Nesterov's
    nesterov: ClassVar[bool] = False

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.__signature__ = _signature(cls)  # type: ignore[attr-defined]

    def __init__(self, problem: Problem, **said: Any) -> None:
        super().__init__(problem)
        for key in said:
            if key not in all_settings(type(self)):
                raise TypeError(f"__init__() got an unexpected keyword argument {key!r}")
        vars(self).update(said)
        self.check_whole("epochs", "batch", *(["batches"] if self.batches is not None else []))
        self.check_number("lr_min", "weight_decay", "clip")
        self.check_number("lr", above=True)
        self.check_number("momentum", most=1.0)
        self.check_whole("crop", least=0)
        self.halves = Halves(
            problem.data,
            self.batch,
            seed=problem.seed,
            crop=self.crop,
            flip=bool(self.flip),
            of=f"searcher {self.name}",
        )
        self.length = self.batches or self.halves.steps
        self.network = self._made(self.one_shot or {})
        self.optimiser = self.weights_optimiser()
        self._outcomes: list[Mapping[str, Any]] = []
        self._trained = 0
        self._answers: Iterator[Any] | None = None

    # -- for those who are made of it -----------------------------------------------------------------------------------
    def learn(self, number: int) -> Mapping[str, float]:
        """Learn from batch `number`; what was seen on the way, by name (losses), is averaged over the epoch."""
        raise NotImplementedError

    def outcome(self, number: int) -> Mapping[str, Any]:
        """What else of epoch `number` is stored: the `architecture` that would be the answer now, and what it comes from."""
        raise NotImplementedError

    def answers(self) -> Iterator[Any]:
        """Architectures, the best first, by what the steps gave."""
        raise NotImplementedError

    def tensors(self) -> dict[str, Tensor]:
        """All that was learned so far."""
        return named("network", self.network.state_dict()) | optimiser_of("optimiser", self.optimiser)

    def facts(self) -> dict[str, Any]:
        """What belongs to it that is no tensor."""
        return {}

    def restore(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """Be as somebody was who had these tensors and facts."""
        self.network.load_state_dict(part_of("network", tensors))
        restore("optimiser", self.optimiser, tensors)

    # -- training -------------------------------------------------------------------------------------------------------
    def weights_optimiser(self) -> torch.optim.Optimizer:
        """Of the weights."""
        return torch.optim.SGD(
            self.network.parameters(),
            self.lr,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
            nesterov=self.nesterov and self.momentum > 0,
        )

    def rate(self, epoch: int) -> float:
        """Of SGD in an epoch: a cosine from `lr` to `lr_min`."""
        return cosine(self.lr, self.lr_min, epoch / self.epochs)

    def training(self, number: int) -> Batch:
        """Batch `number` of the half for the weights."""
        return self.halves.training(number).to(self.problem.device)

    def validation(self, number: int) -> Batch:
        """Batch `number` of the half for the architecture."""
        return self.halves.validation(number).to(self.problem.device)

    def loss(self, batch: Batch, weights: Weights, *, gradient: str = "all") -> Tensor:
        """Mean loss of the one-shot network under these weights of its choices."""
        self.network.mix(weights, gradient=gradient)
        return self.judged(batch)[0]

    def judged(self, batch: Batch) -> tuple[Tensor, float]:
        """Mean loss of the network as it is mixed now, and the share of right answers (or minus the loss, of no classes)."""
        assert batch.labels is not None
        outputs = batch.call(self.network)
        loss = choose(None, outputs, [batch.labels])(outputs, batch.labels)
        if batch.labels.is_floating_point():
            return loss, -float(loss.detach())
        return loss, float((outputs.detach().argmax(1) == batch.labels).double().mean())

    def descend(self, loss: Tensor, *also: Tensor) -> float:
        """One step of the weights; what the loss does not reach stays as it is. Others may have their gradient `also`."""
        self.optimiser.zero_grad(set_to_none=True)
        parameters = list(self.network.parameters())
        loss.backward(inputs=[*parameters, *also])  # type: ignore[no-untyped-call]
        if self.clip:
            nn.utils.clip_grad_norm_(parameters, self.clip)
        self.optimiser.step()
        return float(loss.detach())

    def epoch(self, number: int) -> dict[str, float]:
        """Learn from each batch; what was seen on the way, averaged."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate(number)
        seen = [self.learn(number * self.length + place) for place in range(self.length)]
        means = {name: math.fsum(one[name] for one in seen) / len(seen) for name in seen[0]}
        if not all(map(math.isfinite, means.values())):
            raise SearchError(
                f"searcher {self.name}: in epoch {number + 1} the loss is no finite number; a smaller {self.name}.lr may help"
            )
        return means

    # -- steps ----------------------------------------------------------------------------------------------------------
    def steps_before(self, candidate: int) -> int:
        """All epochs before the first."""
        return self.epochs

    def work(self, number: int) -> Mapping[str, Any]:
        """Do step `number`, when all before it are done."""
        return {**self.epoch(number), **self.outcome(number)}

    def step(self, number: int) -> Mapping[str, Any]:
        """One step, on weights as the steps before left them: at hand, from the run's folder, or learned again."""
        kept = self._kept()
        with threads(self.problem.scorer.settings.threads), EXACT():
            if self._trained != number:
                found = kept.read()
                if found is not None and self._trained < found[1]["steps"] <= number + 1:
                    tensors, told = found
                    self.restore(tensors, told["facts"])
                    self._trained = told["steps"]
                    if self._trained == number + 1:  # killed before the run had heard of it
                        return dict(told["outcome"])
            while self._trained < number:
                self._repeat(self._trained)
            done = self.work(number)
            self._trained = number + 1
            kept.write(self._trained, done, self.tensors(), **self.facts())
            return done

    def advance(self, number: int, outcome: Mapping[str, Any]) -> None:
        """Remember what a step gave."""
        self._outcomes.append(outcome)

    def _repeat(self, number: int) -> None:
        done = json.loads(json.dumps(self.work(number)))
        if done != self._outcomes[number]:
            raise RunError(
                f"searcher {self.name}: the weights of this run are gone, and learned again step {number} gives something "
                "else here; resume it on the machine and the version that began it, or start a new run"
            )
        self._trained = number + 1

    def _kept(self) -> Kept:
        asked = self.problem.scorer.settings
        of = {
            "searcher": self.name,
            "settings": {name: getattr(self, name) for name in all_settings(type(self))},
            "space": [self.space.name, self.space.settings()],
            "task": self.problem.task.to_json(),
            "data": self.problem.data.fingerprint,
            "seed": self.problem.seed,
            "threads": asked.threads,
            "device": asked.device,
        }
        return Kept(self.problem.folder, of)

    # -- the answer -----------------------------------------------------------------------------------------------------
    def ask(self, count: int = 1) -> list[Proposal]:
        """The answer, then the next best ones, as many as the limits let in; draws from the space where they are used up."""
        if self._answers is None:
            self._answers = self.answers()
        proposals = []
        for _ in range(count):
            looked = zip(self._answers, range(LOOKED), strict=False)
            admitted = (self.gate.admit(architecture) for architecture, _ in looked)
            proposal = next(filter(None, admitted), None)
            proposal = proposal or self.gate.draw(lambda rng, attempt: (self.space.sample(rng), None))
            if proposal is None:
                break
            proposals.append(proposal)
        return proposals

    def state(self) -> dict[str, Any]:
        """As the base, with what the last step gave."""
        return {**super().state(), "last": dict(self._outcomes[-1]) if self._outcomes else None}

    # -- settings -------------------------------------------------------------------------------------------------------
    @classmethod
    def fits(cls, space: type[Space[Any]]) -> str:
        """It needs options beside each other in one network."""
        return why_not(space)

    def check_whole(self, *names: str, least: int = 1) -> None:
        """Each of these settings is a whole number, none too small."""
        for name in names:
            whole(f"{self.name}.{name} =", getattr(self, name), least, most=MOST)

    def check_number(self, *names: str, above: bool = False, most: float = math.inf) -> None:
        """Each of these settings is a number from 0 (or above it) to below `most`."""
        for name in names:
            value = getattr(self, name)
            real = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < most
            if not real or (above and value == 0):
                bounds = f"{'above' if above else 'of at least'} 0" + (
                    f" and below {most:g}" if most < math.inf else ""
                )
                raise InputError(f"{self.name}.{name} = {shown(value)}: expected a number {bounds}")

    def _made(self, options: Mapping[str, Any]) -> OneShot[Any]:
        if not isinstance(options, Mapping):
            raise InputError(
                f"{self.name}.one_shot = {shown(options)}: expected options by name, such as {{'channels': 8}}"
            )
        said = {**SEARCH_FORM.get(self.space.name, {}), **options}
        try:
            return self.problem.one_shot(**said).train()
        except TypeError as error:
            raise InputError(f"{self.name}.one_shot = {shown(said)}: {str(error).split('() ')[-1]}") from error


def all_settings(kind: type[OneShotSearcher]) -> tuple[str, ...]:
    """The names of the settings of a searcher and of all that it is made of."""
    owners = [owner for owner in reversed(kind.__mro__) if "settings" in vars(owner)]
    return tuple(dict.fromkeys(name for owner in owners for name in vars(owner)["settings"]))


def _signature(kind: type[OneShotSearcher]) -> inspect.Signature:
    """The settings as arguments with their defaults: what listings show, and checks go by."""
    Parameter = inspect.Parameter
    names = all_settings(kind)
    settings = [Parameter(name, Parameter.KEYWORD_ONLY, default=getattr(kind, name)) for name in names]
    return inspect.Signature([Parameter("problem", Parameter.POSITIONAL_OR_KEYWORD), *settings])
