"""One ensemble in the making: members chosen, trained, put together, measured; what is in the folder is not made again."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from foresee.ensembles.ensemble import NAME, Ensemble
from foresee.ensembles.finding.members import Member, copied, finished, gone_on, labels_of, predicted, thinned
from foresee.ensembles.finding.result import MEASURES, MEMBERS, PREDICTIONS, SELECTED, EnsembleRun
from foresee.ensembles.finding.samplers import Chosen, Sampler
from foresee.ensembles.finding.settings import FITTED, EnsembleSettings
from foresee.ensembles.finding.shelf import Shelf
from foresee.ensembles.finding.workshop import POSTERIOR, Common
from foresee.ensembles.measures import Measures, measure
from foresee.errors import InputError
from foresee.runs.events import Event
from foresee.training.building import for_recipe
from foresee.training.trained import Trained


class Making:
    """From a sampler to an `EnsembleRun`.

    Args:
        settings: what was asked.
        common: supernet, posterior, pool.
        sampler: who chooses.
        shelf: where this ensemble is kept.
        shared: whether others use the pool too: members are trained there then, and copied.
    """

    def __init__(
        self, settings: EnsembleSettings, common: Common, sampler: Sampler, shelf: Shelf, shared: bool = False
    ) -> None:
        self.settings, self.common, self.sampler, self.shelf = settings, common, sampler, shelf
        self.shared = shared
        self._trained: dict[int, Trained] = {}

    # -- members ------------------------------------------------------------------------------------------------------
    @cached_property
    def chosen(self) -> Chosen:
        """Who they are."""
        stored = self.shelf.read(SELECTED)
        if stored is not None:
            return Chosen.from_json(stored, self.settings.own_space)
        found = self.sampler.choose(self.common)
        if self.shared and self.sampler.needs_posterior:
            self.shelf.write(POSTERIOR, self.common.posterior_json(self.common.posterior))
        self.shelf.write(SELECTED, found.to_json())
        details = {"name": "members chosen", "architectures": [one.text for one in found.members]}
        self.common.tell(Event("chosen", len(found.members), len(found.members), details=details))
        return found

    def place(self, number: int) -> Path | None:
        """The folder of a member."""
        return self.shelf.path(f"{MEMBERS}/{number}")

    def trained(self, number: int) -> Trained:
        """A member trained, now or before."""
        if number not in self._trained:
            self._trained[number] = self._train(number)
        return self._trained[number]

    def member(self, number: int) -> Path:
        """Have a member trained in its folder, and say where that is."""
        if not 0 <= number < len(self.chosen.members):
            raise InputError(f"ensemble: member {number}, of {len(self.chosen.members)} (from 0)")
        self.trained(number)
        place = self.place(number)
        assert place is not None
        return place

    def members(self) -> None:
        """Have all of them trained."""
        count = len(self.chosen.members)
        for number, one in enumerate(self.chosen.members):
            self.trained(number)
            details = {"name": f"member {number + 1} of {count}", "architecture": one.text}
            self.common.tell(Event("member", number + 1, count, number, details))

    def _train(self, number: int) -> Trained:
        member, place, pool = self.chosen.members[number], self.place(number), self.common.members
        if self.sampler.in_a_row and number > 0 and not finished(place):
            return gone_on(pool, member, self.trained(number - 1), place)
        if place is None:
            return pool.train(member)
        if not finished(place) and (self.shared or self._in_pool(member)):
            pool.train(member)
            assert pool.folder is not None
            copied(pool.folder / member.key, place)
        return pool.into(place, member)

    def _in_pool(self, member: Member) -> bool:
        return any(one.key == member.key for one in self.chosen.pool)

    # -- together -----------------------------------------------------------------------------------------------------
    @cached_property
    def ensemble(self) -> Ensemble:
        """All members as one module, kept."""
        networks = [self.trained(number).network for number in range(len(self.chosen.members))]
        recipe, task = self.settings.member_recipe, self.common.parts.task
        candidates = [for_recipe(one.candidate, recipe, task) for one in self.chosen.members]
        if self.sampler.drops_paths:
            networks = thinned(networks[0], self.settings)
            candidates = candidates * len(networks)
        made = Ensemble(networks, self.settings.average).eval()
        folder = self.shelf.folder
        if folder is not None and not (folder / f"{NAME}.json").is_file():
            made.save(folder, candidates)
        return made

    def probabilities(self, part: str) -> Tensor:
        """Of each member on a part of the data, (members, samples, classes)."""
        data = getattr(self.common.parts, part)
        return torch.stack([predicted(one, data) for one in self.ensemble.members])

    # -- measured -----------------------------------------------------------------------------------------------------
    def measured(self) -> EnsembleRun:
        """Errors, disagreement, likelihood, calibration, and what was spent."""
        parts, average = self.common.parts, self.settings.average
        labels = {part: labels_of(getattr(parts, part)) for part in ("val", "test")}
        said = {part: self.probabilities(part) for part in labels}
        measures = {part: measure(said[part], labels[part], average) for part in labels}
        estimated = self._estimated()
        if estimated is not None:
            measures["estimated"] = estimated
        budget = self._budget()
        self.shelf.write_arrays(PREDICTIONS, labels=labels["test"].numpy(), probabilities=said["test"].numpy())
        plain = {key: one.to_json() for key, one in measures.items()}
        self.shelf.write(MEASURES, {"estimated": None, **plain, "budget": budget})  # last: from now on it is finished
        held: dict[str, Any] = {"ensemble": self.ensemble, "probabilities": said["test"], "labels": labels["test"]}
        held["space"] = self.settings.own_space
        texts = tuple(one.text for one in self.chosen.members)
        how: dict[str, Any] = {"selected": self.chosen.to_json(), "data": parts.words, "folder": self.shelf.folder}
        return EnsembleRun(
            self.settings,
            texts,
            measures,
            budget,
            task=parts.task,
            statistics=parts.statistics,
            held=held,
            **how,
        )

    def _estimated(self) -> Measures | None:
        """What inherited weights said of the ensemble; None where there is no supernet."""
        if not self.sampler.has_supernet:
            return None
        space = self.common.space
        return self.common.estimates().measure([space.parse(one.text) for one in self.chosen.members])

    def _budget(self) -> dict[str, Any]:
        chosen, said = self.chosen, self.settings
        needed = {one.key for one in (*chosen.pool, *chosen.members)}
        pooled = [self.common.members.train(one) for one in chosen.pool if one.key not in self._keys]
        trained = [*(self.trained(number) for number in range(len(chosen.members))), *pooled]
        seconds = {**self.common.seconds, "members": sum(one.seconds for one in trained)}
        if not self.sampler.has_supernet:
            seconds.pop("supernet", None)
        if not self.sampler.needs_posterior:
            seconds.pop("posterior", None)
        fitted = self.sampler.needs_posterior and said.posterior == FITTED
        return {
            "networks": len(needed),
            "epochs": sum(len(one.history) for one in trained),
            "supernet_epochs": said.shared_recipe.epochs if self.sampler.has_supernet else 0,
            "posterior_epochs": said.posterior_epochs if fitted else 0,
            "evaluations": chosen.evaluated[-1] if self.sampler.has_supernet and chosen.evaluated else 0,
            "scores": chosen.details.get("scores", 0),
            "seconds": seconds,
        }

    @property
    def _keys(self) -> set[str]:
        return {one.key for one in self.chosen.members}
