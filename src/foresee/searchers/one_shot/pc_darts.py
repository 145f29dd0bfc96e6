"""PC-DARTS: DARTS on a part of the channels, with edges that are weighed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from foresee.errors import InputError
from foresee.searchers.base import searchers
from foresee.searchers.one_shot.darts import DARTSFirst
from foresee.searchers.problem import Problem
from foresee.spaces.base import Space
from foresee.spaces.darts.space import DARTS
from foresee.spaces.nasbench1shot1.space import NASBench1Shot1
from foresee.spaces.nasbench201.space import NASBench201
from foresee.spaces.one_shot import OneShot


@searchers.register("pc_darts")
class PCDARTS(DARTSFirst):
    """Partially connected DARTS (Xu et al. 2020): first-order DARTS in a quarter of the memory.

    Of the channels of an edge one in `partial` passes through the options, the others go by (Eq. 1). In the DARTS space the
    edges into a node are weighed as well, by the softmax of logits of their own (edge normalisation, Eq. 2), and an
    architecture keeps those edges whose weight times that of their operation is largest. In NAS-Bench-1Shot1 the inputs are
    weighed so anyway; NAS-Bench-201 keeps all its edges, so there is nothing to normalise. For the first epochs only the
    weights learn.

    Args:
        partial: one in so many channels passes through the options (K).
        warmup: epochs in which the logits stay as they are.
    """

    name = "pc_darts"
    summary = "PC-DARTS: first-order DARTS on a quarter of the channels, with edges that are weighed"
    source = "Xu et al. 2020 (PC-DARTS), Sec. 3"
    cost = "an epoch: all options on one in `partial` channels, forward and backward on both halves; no scores"
    settings = ("partial", "warmup")
    batch = 256
    lr = 0.1
    lr_min = 0.0
    arch_lr = 6e-4
    partial: int = 4
    warmup: int = 15
    published: ClassVar[Mapping[str, str]] = {
        "epochs": "50 (Sec. 4.2)",
        "batch": "256 (Sec. 4.2)",
        "lr": "0.1 (Sec. 4.2)",
        "lr_min": "0 (Sec. 4.2)",
        "momentum": "0.9 (Sec. 4.2)",
        "weight_decay": "3e-4 (Sec. 4.2)",
        "clip": "5 in the released code",
        "crop": "4 (Sec. 4.2)",
        "flip": "true (Sec. 4.2)",
        "arch_lr": "6e-4 (Sec. 4.2)",
        "arch_decay": "1e-3 (Sec. 4.2)",
        "partial": "4 on CIFAR-10 (Sec. 4.2)",
        "warmup": "15 (Sec. 4.2)",
        "one_shot": "16 channels, 8 cells (Sec. 4.2)",
    }

    def __init__(self, problem: Problem, **said: Any) -> None:
        super().__init__(problem, **said)
        self.check_whole("warmup", least=0)
        if self.warmup >= self.epochs:
            raise InputError(
                f"pc_darts.warmup = {self.warmup}: the logits learn after it, in none of {self.epochs} epochs"
            )

    @classmethod
    def fits(cls, space: type[Space[Any]]) -> str:
        """Where channels can be divided."""
        divided = issubclass(space, DARTS | NASBench1Shot1 | NASBench201)
        return super().fits(space) or ("" if divided else "has no partial channels")

    def _made(self, options: Mapping[str, Any]) -> OneShot[Any]:
        self.check_whole("partial")
        weighed = {"edge_normalisation": True} if isinstance(self.space, DARTS) else {}
        return super()._made({"partial": self.partial, **weighed, **options})

    def learn(self, number: int) -> Mapping[str, float]:
        """The weights alone, then both."""
        if number // self.length >= self.warmup:
            return super().learn(number)
        return {"loss": self.descend(self.loss(self.training(number), self.fixed()))}
