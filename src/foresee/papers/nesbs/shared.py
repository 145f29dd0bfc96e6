"""What the tables and figures of thesis chapter 5 share: for each seed a supernet, a posterior, a pool of trained networks.

    study = Study(workshop, workshop.own(USUAL), seed)
    study.common.posterior                                  # made when it is first asked for, kept, never made twice
    found = study.kept("figure-5.7", asked, lambda: {...})  # plain values, kept too

Everything is kept in one folder, `--set table.work=DIR` or else beside the scores (`--cache`, `--out`), so that tables find
what others made. What a page is made of lies in `results/` as small JSON files: with these alone a page is put together on
any machine, without weights and without a GPU; what is not there and cannot be made is an empty cell that says so.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar

from foresee.ensembles.finding.members import Member
from foresee.ensembles.finding.parts import Parts, parts_of
from foresee.ensembles.finding.planning import known_before
from foresee.ensembles.finding.result import EnsembleRun
from foresee.ensembles.finding.run import found
from foresee.ensembles.finding.samplers import sampler_of
from foresee.ensembles.finding.settings import BEST_RESPONSE, FITTED, EnsembleSettings
from foresee.ensembles.finding.shelf import Shelf
from foresee.ensembles.finding.workshop import Common
from foresee.errors import BusyError
from foresee.papers.nesbs.inherited import Inherited
from foresee.papers.nesbs.work import alone, can_be_made, digest, work_folder
from foresee.papers.workshop import Workshop
from foresee.runs.folder import is_there, write_whole
from foresee.training.keeping import read_plain
from foresee.training.trained import Trained

T = TypeVar("T")

#: sizes that two cores do in minutes. The thesis: a supernet of C = 16 and 8 cells, 50 epochs in batches of 128, 20 epochs of
#: the posterior; members of C = 36 and 20 cells with an auxiliary head (0.4), 600 epochs in batches of 96
USUAL: Mapping[str, Any] = {
    "work": "",
    "images": "",
    "channels": 4,
    "layers": 3,
    "cells": 1,
    "supernet_epochs": 2,
    "supernet_batch": 64,
    "posterior_epochs": 1,
    "prior": -1.0,
    "recipe": "nasi_cifar",
    "epochs": 1,
    "batch": 96,
    "lr": 0.025,
    "auxiliary": 0.0,
    "statistics": 10,
    "proxy_samples": 200,
}
#: images that the thesis prints numbers of
IMAGES = ("cifar10", "cifar100", "imagenet16")
#: what is looked at where nothing else is said, in the size that it has: networks of two cores' minutes
DIGITS, SMALL = "digits", (3, 8, 8)
#: seconds between two looks whether another process is done
WAITED = 2.0
#: what the depth of a space's networks is called
DEPTH = {"nasbench201": "cells", "darts": "layers"}


class Study:
    """One seed of the chapter in one space.

    Args:
        workshop: data, device, cache.
        own: a table's settings, those of `USUAL` among them.
        seed: decides everything that is random; the parts of the data too.
        space: `darts`, or `nasbench201` (whose networks have `cells` in each of three stages).
        posterior: `fitted` after the supernet's training, `best_response`, or a proxy's name (training-free).
    """

    def __init__(
        self, workshop: Workshop, own: Mapping[str, Any], seed: int, *, space: str = "darts", posterior: str = FITTED
    ) -> None:
        self.workshop, self.own, self.seed = workshop, own, seed
        values = {"warmup_epochs": 0.0, "lr": float(own["lr"]), "auxiliary": float(own["auxiliary"])}
        self.settings = EnsembleSettings(
            space,
            seed=seed,
            device=workshop.device,
            posterior=posterior,
            posterior_epochs=own["posterior_epochs"],
            prior=None if own["prior"] < 0 else own["prior"],
            channels=own["channels"],
            supernet_epochs=own["supernet_epochs"],
            supernet_batch=own["supernet_batch"],
            recipe=own["recipe"],
            recipe_values=values,
            epochs=own["epochs"],
            batch=own["batch"],
            **({} if posterior in (FITTED, BEST_RESPONSE) else {"proxy_samples": own["proxy_samples"]}),
            **{DEPTH[space]: own[DEPTH[space]]},
            inputs=SMALL if looked_at(workshop) == DIGITS else None,
        )
        self.work = work_folder(workshop, own)

    @cached_property
    def parts(self) -> Parts:
        """What is learnt from, what is selected by, and the test."""
        said = self.settings
        return _parts(looked_at(self.workshop), said.inputs, said.validation, said.test, self.seed)

    @cached_property
    def key(self) -> str:
        """Another one for everything that makes another supernet, pool or number."""
        device = self.settings.device.partition(":")[0]
        words = {part: facts["fingerprint"] for part, facts in self.parts.words.items()}
        return digest({**self.settings.to_json(), "device": device, "parts": words})

    @cached_property
    def folder(self) -> Path:
        """Where supernet, posterior and trained networks are kept."""
        return self.work / f"{self.settings.space}-{self.settings.posterior}-seed-{self.seed}-{self.key}"

    @property
    def common(self) -> Common:
        """Supernet, posterior and pool, one of each for all tables of a process."""
        held = _held(self.folder)
        if "common" not in held:
            held["common"] = Common(self.settings, self.parts, self.folder, self.workshop.observers)
        return held["common"]  # type: ignore[no-any-return]

    @property
    def inherited(self) -> Inherited:
        """What inherited weights predict; the posterior is there then, too."""
        held, batches = _held(self.folder), self.own["statistics"]
        if (name := f"inherited by {batches}") not in held:
            with alone(self.folder):
                self.common.posterior  # noqa: B018
                supernet = self.common.supernet
            held[name] = Inherited(supernet, self.parts.train, self.parts.val, self.parts.test, batches)
        return held[name]  # type: ignore[no-any-return]

    # -- ensembles ----------------------------------------------------------------------------------------------------
    def run(self, sampler: str, **changes: Any) -> EnsembleRun:
        """An ensemble found, trained and measured; a network that another process is training is waited for."""
        said, place = self._asked(sampler, changes)
        self.ready(said)
        return waited(lambda: found(said, self.parts, place, common=self.common))

    def networks(self, sampler: str, **changes: Any) -> list[Member]:
        """What is to be trained for an ensemble, in any order: for `train`, in processes of their own."""
        said, place = self._asked(sampler, changes)
        self.ready(said)
        with alone(place):
            return known_before(said, self.common, Shelf(place))

    def train(self, member: Member) -> Trained:
        """A network of the pool, trained now or before; one that another process is training is waited for."""
        return waited(lambda: self.common.members.train(member))

    def _asked(self, sampler: str, changes: Mapping[str, Any]) -> tuple[EnsembleSettings, Path]:
        said = replace(self.settings, sampler=sampler, **changes)
        return said, self.folder / "ensembles" / f"{said.sampler.replace(':', '-')}-{digest(changes)}"

    def ready(self, settings: EnsembleSettings) -> None:
        """See to it that one process alone makes what the sampler needs beside members."""
        sampler = sampler_of(settings)
        if sampler.has_supernet or sampler.needs_posterior:
            with alone(self.folder):
                if sampler.has_supernet:
                    self.common.supernet  # noqa: B018
                if sampler.needs_posterior:
                    self.common.posterior  # noqa: B018

    def ensemble(self, sampler: str, **changes: Any) -> dict[str, Any]:
        """What came of an ensemble, as plain values: `test`, `val` and `estimated` measures, `budget`, `answers`."""
        name = f"ensemble-{sampler.replace(':', '-')}"
        return self.kept(name, [sampler, changes], lambda: plain_of(self.run(sampler, **changes)))

    def kept(self, name: str, asked: Any, make: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """Plain values by name, and by what was asked: read where they are kept, made and kept where not."""
        place = self.work / "results" / f"{name}-seed-{self.seed}-{digest([self.key, asked])}.json"
        if not is_there(place):
            can_be_made(name, self.seed, self.settings.device)
            made = json.dumps(make(), indent=1, allow_nan=False) + "\n"
            with alone(place.parent):  # of two that made the same, one writes after the other
                write_whole(place, made)
        return read_plain(place)


def plain_of(run: EnsembleRun) -> dict[str, Any]:
    """What pages say of an ensemble; `answers` are the classes that each member takes the test samples for."""
    return {
        "architectures": list(run.architectures),
        **{part: one.to_json() for part, one in run.measures.items()},
        "budget": dict(run.budget),
        "answers": run.probabilities.argmax(-1).tolist(),
    }


def waited(do: Callable[[], T]) -> T:
    """What comes of it, as soon as no other process is at the same."""
    while True:
        try:
            return do()
        except BusyError:
            time.sleep(WAITED)


# -- made once in a process -----------------------------------------------------------------------------------------------
@lru_cache(maxsize=4)
def _parts(data: str, inputs: tuple[int, ...] | None, share: float, test: float, seed: int) -> Parts:
    return parts_of(data, inputs=inputs, share=share, test_share=test, seed=seed)


@lru_cache(maxsize=2)
def _held(folder: Path) -> dict[str, Any]:
    """A place for what belongs to a study; that of the least recently used goes."""
    return {}


# -- where, and of what ---------------------------------------------------------------------------------------------------
def looked_at(workshop: Workshop) -> str:
    """The images."""
    if (data := workshop.data or DIGITS) == DIGITS:
        words = f"the images are the embedded digits of {SMALL[1]} x {SMALL[2]} pixels: give others with --data"
        if words not in workshop.notes:
            workshop.note(words)
    return data


def images_of(workshop: Workshop, own: Mapping[str, Any]) -> str:
    """Beside which printed columns ours stand: as said, by the name of the file, or columns of their own (`here`)."""
    named = own["images"] or next((one for one in reversed(IMAGES) if one in (workshop.data or "")), "")
    if named in IMAGES:
        workshop.note(
            f"ours is of the images at hand and of smaller networks, theirs of all of {named}: nothing is judged"
        )
        return str(named)
    return "here"
