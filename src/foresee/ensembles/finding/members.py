"""Training the members: each in a folder of its own, once, whoever trains it.

A member is an architecture and its number among equal ones; both, with the run's seed, decide its weights and the order of
its batches. So two samplers that choose the same architecture have the same network, and an ensemble of one architecture has
members that differ by their seeds (a deep ensemble).
"""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from foresee.data import Data
from foresee.ensembles.dropping import dropping
from foresee.ensembles.finding.parts import Parts
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.errors import RunError
from foresee.probes.outputs import logits_of
from foresee.runs.events import Observer
from foresee.runs.folder import is_there, write_whole
from foresee.seeds import derive
from foresee.spaces.candidate import Candidate
from foresee.spaces.find import Said
from foresee.training.building import for_recipe
from foresee.training.keeping import ARCHITECTURE, TRAINING, read_plain
from foresee.training.loading import load
from foresee.training.loop import train
from foresee.training.steps import load_weights, weights
from foresee.training.trained import Trained

#: samples that are predicted at a time
SIZE = 256


@dataclass(frozen=True, eq=False)
class Member:
    """An architecture to be trained, and how many equal ones come before it in its ensemble; equal by its `key`."""

    candidate: Candidate
    number: int = 0

    @property
    def text(self) -> str:
        """The architecture."""
        return str(self.candidate.architecture)

    def seed(self, seed: int) -> int:
        """Of its weights and batches, in a run of this seed."""
        return derive(seed, "member", self.candidate.space.reference, self.text, self.number)

    @property
    def key(self) -> str:
        """The name of its folder in a pool."""
        said = repr((self.candidate.space.reference, self.text, self.number)).encode()
        return hashlib.sha256(said).hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Member) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**self.candidate.to_json(), "number": self.number}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any], space: Said | None = None) -> Member:
        """Inverse of `to_json`; `space` as for `Candidate.from_json`: an own one has to be said."""
        rest = {key: value for key, value in plain.items() if key != "number"}
        return cls(Candidate.from_json(rest, space=space), int(plain["number"]))


def numbered(candidates: Iterable[Candidate]) -> list[Member]:
    """Candidates as members, equal ones numbered.

    >>> from foresee.spaces.find import get
    >>> from foresee.task import Task
    >>> space = get("nasbench201")
    >>> cell = Candidate(space, space.named["ResNet"], Task())
    >>> [one.number for one in numbered([cell, cell])]
    [0, 1]
    """
    seen: dict[tuple[str, str], int] = {}
    found = []
    for one in candidates:
        key = one.space.reference, str(one.architecture)
        found.append(Member(one, seen.get(key, 0)))
        seen[key] = seen.get(key, 0) + 1
    return found


def finished(folder: Path | None) -> bool:
    """Whether a finished training is in a folder."""
    there = folder is not None and is_there(folder / TRAINING)
    return there and read_plain(folder / TRAINING).get("status") == "finished"  # type: ignore[operator]


class Members:
    """Trains members, each once: in `folder`/KEY, or in memory.

    Args:
        settings: recipe, seed and device.
        parts: what they learn from and are judged by.
        folder: of the pool.
        observers: are told what happens.
    """

    def __init__(
        self,
        settings: EnsembleSettings,
        parts: Parts,
        folder: Path | None = None,
        observers: Iterable[Observer] = (),
    ) -> None:
        self.settings, self.parts, self.folder = settings, parts, folder
        self.observers = tuple(observers)
        self._trained: dict[str, Trained] = {}
        self._said: dict[tuple[str, str], Tensor] = {}

    def train(self, member: Member) -> Trained:
        """The trained network of a member, trained now if it is not."""
        if member.key not in self._trained:
            self._trained[member.key] = self.into(None if self.folder is None else self.folder / member.key, member)
        return self._trained[member.key]

    def into(self, folder: Path | None, member: Member, start: nn.Module | None = None) -> Trained:
        """Train a member in this very folder, go on with it, or read what is finished there.

        Args:
            folder: of the training; None keeps nothing.
            member: what is trained.
            start: a network to begin with, instead of fresh weights.
        """
        if folder is not None and finished(folder):
            trained = load(folder, space=self.settings.own_space)
            trained.network.to(self.settings.device)
            return trained
        how: dict[str, Any] = {"validation": self.parts.val, "test": self.parts.test, "device": self.settings.device}
        return train(
            member.candidate if start is None else start,
            self.parts.train,
            self.settings.member_recipe,
            out=folder,
            resume=True,
            seed=member.seed(self.settings.seed),
            observers=self.observers,
            **how,
        )

    def probabilities(self, member: Member, part: str) -> Tensor:
        """What a trained member says of all samples of a part (`val`, `test`), (samples, classes) in float32."""
        key = member.key, part
        if key not in self._said:
            self._said[key] = predicted(self.train(member).network, getattr(self.parts, part))
        return self._said[key]

    def pool(self, members: Sequence[Member], part: str = "val") -> Tensor:
        """Of several, (members, samples, classes)."""
        return torch.stack([self.probabilities(one, part) for one in members])


def gone_on(members: Members, member: Member, before: Trained, folder: Path | None) -> Trained:
    """The next snapshot: another cycle of the recipe, from the weights of the member before (Huang et al., 2017)."""
    candidate = for_recipe(member.candidate, members.settings.member_recipe, members.parts.task)
    network = candidate.build(0)
    load_weights(network, weights(before.network))
    if folder is not None:  # a training of a module does not know where it came from
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"{folder}: cannot be used as a folder ({error.strerror or error})") from error
        write_whole(folder / ARCHITECTURE, json.dumps(candidate.to_json(), indent=1) + "\n")
    return members.into(folder, member, start=network)


def thinned(network: nn.Module, settings: EnsembleSettings) -> list[nn.Module]:
    """Copies of one trained network that drop paths, each others: the members of MC DropPath."""
    seeds = [derive(settings.seed, "droppath", number) for number in range(settings.size)]
    return [dropping(copy.deepcopy(network), settings.droppath, seed) for seed in seeds]


def copied(source: Path, place: Path) -> None:
    """A finished training put in another place, whole or not at all; what is needed to go on with it stays behind."""
    fresh = place.with_name(place.name + ".new")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        for left in (fresh, place):  # of a process that was killed
            if left.exists():
                shutil.rmtree(left)
        shutil.copytree(source, fresh, ignore=shutil.ignore_patterns("last.*", "*.new"))
        fresh.rename(place)
    except OSError as error:
        raise RunError(f"{place}: cannot be written ({error.strerror or error})") from error


def labels_of(data: Data) -> Tensor:
    """All labels in order, (samples,)."""
    found = [batch.labels for batch in data.epoch(min(SIZE, data.epoch_samples), shuffle=False)]
    if any(one is None for one in found):
        raise RunError(f"{data.name}: there are no labels to judge by")
    return torch.cat([one for one in found if one is not None])


def predicted(network: nn.Module, data: Data) -> Tensor:
    """Probabilities of all samples in order, (samples, classes) in float32 on the CPU; the network evaluates."""
    device = next((one.device for one in network.parameters()), torch.device("cpu"))
    network.eval()
    with torch.no_grad():
        batches = data.epoch(min(SIZE, data.epoch_samples), shuffle=False)
        return torch.cat([logits_of(one.to(device).call(network)).softmax(-1).cpu() for one in batches])
