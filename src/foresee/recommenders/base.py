"""What a recommender by hand is: a module made for a click log's task, or an outsider that is fitted whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from foresee.errors import InputError, said
from foresee.registry import Registry, check_settings, tidy
from foresee.task import Task

#: name -> class; called with the task and settings of its own, it is the network. `summary` and `source` are said of each.
#: One that is `fitted` is no module: it has `fit(dense, sparse, labels)` and `probabilities(dense, sparse)`.
recommenders: Registry[Any] = Registry("recommender", group="foresee.recommenders", home="foresee.recommenders")


def names(pattern: str = "*") -> list[str]:
    """Names of those that match a wildcard pattern."""
    return recommenders.names(pattern)


def make(name: str, task: Task, *, seed: int | None = None, **settings: Any) -> nn.Module:
    """The network of this name for a click log, its weights drawn from `seed`; None draws from torch's own state.

    >>> make("logistic", Task((2,), 1, vocabularies=(3, 4)), seed=0)(torch.zeros(5, 2), torch.zeros(5, 2).long()).shape
    torch.Size([5, 1])
    """
    kind = recommenders[name]
    if getattr(kind, "fitted", False):
        raise InputError(f"{tidy(name)}: is fitted whole and not trained step by step; `foresee judge` does that")
    check_settings(tidy(name), kind, settings)
    with torch.random.fork_rng(devices=[]):
        if seed is not None:
            torch.manual_seed(seed)
        try:
            made: nn.Module = kind(task, **settings)
        except (TypeError, ValueError) as error:
            raise InputError(f"{tidy(name)} with {dict(settings)}: {said(error)}") from error
    return made


@dataclass(frozen=True)
class Handmade:
    """A recommender by its name and settings, before there is a task: what a training or a judging builds.

    >>> Handmade.from_json(Handmade("deepfm", {"dropout": 0.2}).to_json()).settings
    {'dropout': 0.2}
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fitted(self) -> bool:
        """Whether it is no network, but fitted whole."""
        return bool(getattr(recommenders[self.name], "fitted", False))

    def build(self, task: Task, seed: int | None = None) -> nn.Module:
        """The network for this task."""
        return make(self.name, task, seed=seed, **self.settings)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"recommender": tidy(self.name), "settings": dict(self.settings)}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Handmade:
        """Inverse of `to_json`; what else is there is left out."""
        return cls(str(plain["recommender"]), dict(plain.get("settings", {})))


def click_log(task: Task, name: str) -> tuple[int, int]:
    """Numbers of dense and sparse features of a yes-or-no task; a precise error for any other."""
    if not task.vocabularies:
        raise InputError(
            f"{name} takes click logs: the task has no vocabularies; give the number of values of each sparse feature, "
            "such as Task((13,), 1, vocabularies=(100, 50))"
        )
    if task.outputs != 1:
        raise InputError(f"{name} answers one yes-or-no question: the task has {task.outputs} outputs, expected 1")
    return task.inputs[0], len(task.vocabularies)
