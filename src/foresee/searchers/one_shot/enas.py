"""ENAS: shared weights, and a controller that learns by REINFORCE which paths are right most often."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from foresee.searchers.base import searchers
from foresee.searchers.one_shot.controller import Controller
from foresee.searchers.one_shot.drawn import Drawn
from foresee.searchers.one_shot.kept import named, optimiser_of, part_of, restore
from foresee.searchers.problem import Problem
from foresee.searchers.supernet import plan_of
from foresee.seeds import generator
from foresee.training.schedules import cosine


@searchers.register("enas")
class ENAS(Drawn):
    """Efficient search by parameter sharing (Pham et al. 2018).

    In turn: an epoch of the shared weights, each batch of the training half with one architecture drawn by the controller;
    then steps of the controller, each with one draw whose reward is its share of right answers on one validation batch, plus
    its entropy. The controller learns by REINFORCE with a moving average as the baseline. In the end some are drawn from it,
    and the one with the greatest reward on one batch is the answer. It decides an operation for every edge (every node, in
    NAS-Bench-1Shot1) and then the inputs that stay.

    Args:
        hidden: units of the controller's LSTM.
        controller_steps: steps of the controller after each epoch.
        controller_lr: rate of Adam for it.
        temperature: of its logits.
        tanh_constant: its logits lie within this; 0: anywhere.
        entropy: weight of the entropy in the reward.
        baseline_decay: of the moving average of the rewards.
        restart: epochs of the first cosine of the weights' rate, each next one twice as long; 0: one cosine over all.
    """

    name = "enas"
    summary = "ENAS: shared weights, and an LSTM controller that learns by REINFORCE"
    source = "Pham et al. 2018 (ENAS), Sec. 2.2, 3.2"
    cost = "an epoch: one drawn network on the training half, forward runs for the controller; no scores"
    settings = (
        *("hidden", "controller_steps", "controller_lr", "temperature", "tanh_constant", "entropy", "baseline_decay"),
        "restart",
    )
    epochs = 150
    lr = 0.05
    weight_decay = 1e-4
    nesterov = True
    draws = 10
    hidden: int = 100
    controller_steps: int = 2000
    controller_lr: float = 0.00035
    temperature: float = 5.0
    tanh_constant: float = 2.5
    entropy: float = 0.1
    baseline_decay: float = 0.99
    restart: int = 10
    published: ClassVar[Mapping[str, str]] = {
        "epochs": "310 for whole networks (Sec. 3.2); 150 for cells in the released code",
        "batch": "128 in the released code for whole networks, 160 for cells",
        "lr": "0.05 (Sec. 3.2)",
        "lr_min": "0.001 (Sec. 3.2)",
        "momentum": "0.9, Nesterov's (Sec. 3.2)",
        "weight_decay": "1e-4 (Sec. 3.2)",
        "clip": "5 in the released code",
        "crop": "4 (Sec. 3.2)",
        "flip": "true (Sec. 3.2)",
        "draws": "several (Sec. 2.2); 10 in the released code; 100 in NAS-Bench-201's baseline",
        "looks": "1 (Sec. 2.2)",
        "hidden": "100 (Sec. 2.2)",
        "controller_steps": "2000 (Sec. 2.2)",
        "controller_lr": "0.00035 (Sec. 3.2)",
        "temperature": "5 (Sec. 3.2)",
        "tanh_constant": "2.5 (Sec. 3.2)",
        "entropy": "0.1 (Sec. 3.2)",
        "baseline_decay": "0.99 in the released code",
        "restart": "10, doubled each time (Sec. 3.2)",
    }

    def __init__(self, problem: Problem, **said: Any) -> None:
        super().__init__(problem, **said)
        self.check_whole("hidden", "controller_steps")
        self.check_whole("restart", least=0)
        self.check_number("controller_lr", "temperature", above=True)
        self.check_number("tanh_constant", "entropy")
        self.check_number("baseline_decay", most=1.0)
        self.plan = plan_of(self.network)
        self.controller = Controller(
            self.plan.decisions,
            hidden=self.hidden,
            temperature=self.temperature,
            bound=self.tanh_constant,
            generator=generator(problem.seed, "enas", "controller"),
        )
        self.teacher = torch.optim.Adam(self.controller.parameters(), self.controller_lr)
        self.baseline: float | None = None

    # -- the weights ----------------------------------------------------------------------------------------------------
    def rate(self, epoch: int) -> float:
        """Cosines that begin anew, each twice as long as the one before (Loshchilov & Hutter 2017)."""
        if not self.restart:
            return super().rate(epoch)
        length = self.restart
        while epoch >= length:
            epoch, length = epoch - length, 2 * length
        return cosine(self.lr, self.lr_min, epoch / length)

    def learn(self, number: int) -> Mapping[str, float]:
        """One draw of the controller for one batch."""
        path = self.network.path(self.draw(generator(self.problem.seed, "enas", "path", number)))
        return {"loss": self.descend(self.loss(self.training(number), path))}

    # -- the controller -------------------------------------------------------------------------------------------------
    def epoch(self, number: int) -> dict[str, float]:
        """The weights, then the controller."""
        found = super().epoch(number)
        first = number * self.controller_steps
        rewards = [self.teach(first + place) for place in range(self.controller_steps)]
        return {**found, "reward": sum(rewards) / len(rewards)}

    def teach(self, number: int) -> float:
        """One step of the controller; the reward without the entropy."""
        policy = self.controller(generator(self.problem.seed, "enas", "teach", number))
        self.network.select(self._architecture(policy.picks))
        with torch.no_grad():
            _, right = self.judged(self.validation(number))
        reward = right + self.entropy * float(policy.entropy.detach())
        before = reward if self.baseline is None else self.baseline
        self.baseline = self.baseline_decay * before + (1 - self.baseline_decay) * reward
        self.teacher.zero_grad()
        (-(reward - self.baseline) * policy.log_probability).backward()
        self.teacher.step()
        return right

    def draw(self, numbers: torch.Generator) -> Any:
        """By the controller."""
        with torch.no_grad():
            return self._architecture(self.controller(numbers).picks)

    def _architecture(self, picks: tuple[tuple[int, ...], ...]) -> Any:
        weights = {choice.name: torch.zeros(len(choice.options)) for choice in self.network.choices}
        for decision, kept in zip(self.plan.decisions, picks, strict=True):
            weights = decision.settled(weights, kept)
        return self.network.derive(weights)

    # -- what is kept ---------------------------------------------------------------------------------------------------
    def tensors(self) -> dict[str, Tensor]:
        """With the controller."""
        own = named("controller", self.controller.state_dict()) | optimiser_of("teacher", self.teacher)
        return super().tensors() | own

    def facts(self) -> dict[str, Any]:
        """The baseline."""
        return {"baseline": self.baseline}

    def restore(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """With the controller."""
        super().restore(tensors, facts)
        self.controller.load_state_dict(part_of("controller", tensors))
        restore("teacher", self.teacher, tensors)
        self.baseline = facts["baseline"]
