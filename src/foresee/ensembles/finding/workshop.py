"""What samplers work with: a trained supernet, a posterior, estimates by inherited weights, trained members; each made when
it is first asked for, kept, and never made twice.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import Tensor

from foresee.ensembles.finding.best_response import BestResponse
from foresee.ensembles.finding.members import Members, labels_of
from foresee.ensembles.finding.parts import Parts
from foresee.ensembles.finding.proxied import Proxied
from foresee.ensembles.finding.settings import BEST_RESPONSE, EnsembleSettings
from foresee.ensembles.finding.shelf import Shelf
from foresee.ensembles.posterior import Posterior, fit
from foresee.ensembles.selecting import Estimates
from foresee.errors import UnsupportedError
from foresee.runs.events import Announcer, Event, Observer
from foresee.seeds import derive
from foresee.spaces.base import Space
from foresee.spaces.candidate import Candidate
from foresee.spaces.darts.nasi import DARTSNASI
from foresee.spaces.darts.space import DARTS
from foresee.spaces.one_shot import OneShot
from foresee.supernets.supernet import Supernet

POSTERIOR = "posterior.json"
#: partial channels of the thesis' supernet of DARTS cells (5.3.2)
PARTIAL = 2


class Common:
    """What all samplers of one seed share: one supernet, one posterior, one pool of trained members.

    Args:
        settings: of any of them; sampler and ensemble size do not matter here.
        parts: the data.
        folder: where `supernet/`, `posterior.json` and `pool/` are kept; None keeps nothing.
        observers: are told what happens.
        members: the pool, where it is kept elsewhere.
    """

    def __init__(
        self,
        settings: EnsembleSettings,
        parts: Parts,
        folder: Path | None = None,
        observers: Iterable[Observer] = (),
        members: Members | None = None,
    ) -> None:
        self.settings, self.parts, self.shelf = settings, parts, Shelf(folder)
        self.observers = tuple(observers)
        self.tell = Announcer(self.observers)
        self.members = members or Members(settings, parts, self.shelf.path("pool"), self.observers)
        self._known: dict[str, Tensor] = {}

    @property
    def space(self) -> Space[Any]:
        """Where members come from."""
        return self.settings.found_space

    def candidate(self, architecture: Any) -> Candidate:
        """An architecture of the space, to be trained."""
        return Candidate(self.space, architecture, self.parts.task)

    # -- the supernet -------------------------------------------------------------------------------------------------
    @cached_property
    def fresh(self) -> Supernet:
        """The supernet before it is trained: what translates between paths and architectures, too."""
        if type(self.space).one_shot is Space.one_shot:
            raise UnsupportedError(
                f"ensemble: space {self.space.name} has no one-shot network; take a sampler that needs no supernet "
                "(nes-rs, nes-re, deep, snapshot)"
            )
        said = self.settings
        form: dict[str, Any] = {}
        if isinstance(self.space, DARTS):  # whose one-shot networks have sizes of their own
            form = {key: getattr(said, key) for key in ("channels", "layers") if getattr(said, key) is not None}
        if self._has_none:  # two inputs of each node are drawn, as a choice of their own
            width = {**form, **said.supernet}.get("channels", PARTIAL)
            form |= {"edge_normalisation": True, "partial": 1 if width % PARTIAL else PARTIAL}
        seed = derive(said.seed, "supernet")
        return Supernet(self.space, self.parts.task, seed=seed, device=said.device, **{**form, **said.supernet})

    @cached_property
    def supernet(self) -> Supernet:
        """Trained on the training part."""
        made, said = self.fresh, self.settings
        sampler = None
        if said.posterior == BEST_RESPONSE:
            sampler = BestResponse(made, self.parts.val, said, self.without)
        with self.timed("supernet"):
            return made.train(
                self.parts.train,
                None,
                None,
                said.shared_recipe,
                sampler=sampler,
                out=self.shelf.path("supernet"),
                resume=True,
                observers=self.observers,
            )

    @property
    def one_shot(self) -> OneShot[Any]:
        """Its module, trained or not: for paths."""
        return self.fresh.one_shot

    @property
    def without(self) -> tuple[str, ...]:
        """Options that cannot be chosen: DARTS cells have no `none`."""
        return ("none",) if self._has_none else ()

    @property
    def _has_none(self) -> bool:
        return isinstance(self.space, DARTS) and not isinstance(self.space, DARTSNASI)

    def architecture(self, path: Mapping[str, Tensor]) -> Any:
        """What a path of ones and zeros means."""
        return self.one_shot.derive(path)

    # -- the posterior ------------------------------------------------------------------------------------------------
    @cached_property
    def posterior(self) -> Posterior:
        """Of architectures, as the settings want it; not tempered."""
        stored = self.shelf.read(POSTERIOR)
        if stored is not None:
            self.proxied.restore(stored["scores"])
            return Posterior.from_json(stored["posterior"])
        found = self._posterior()
        self.shelf.write(POSTERIOR, self.posterior_json(found))
        return found

    def posterior_json(self, found: Posterior) -> dict[str, Any]:
        """What `posterior.json` holds: where it comes from, itself, and the scores of a proxy that it was fitted to."""
        return {"from": self.settings.posterior, "posterior": found.to_json(), "scores": self.proxied.known}

    def _posterior(self) -> Posterior:
        said = self.settings
        if said.training_free:
            with self.timed("posterior"):
                return self.proxied.posterior(self.one_shot, self.without)
        network = self.supernet.one_shot
        if said.posterior == BEST_RESPONSE:
            return BestResponse.read(self.supernet, self.without)
        prior = 1 / self.parts.val.epoch_samples if said.prior is None else said.prior
        steps = self.parts.val.steps(min(said.posterior_batch, self.parts.val.epoch_samples)) * said.posterior_epochs

        def observe(step: int, loss: float) -> None:
            details = {"name": "posterior", "step": step + 1, "steps": steps, "replayed": False, "loss": loss}
            self.tell(Event("step", step + 1, steps, details=details))

        with self.timed("posterior"):
            how: dict[str, Any] = {"prior": prior, "without": self.without, "observe": observe}
            how |= {"epochs": said.posterior_epochs, "batch": said.posterior_batch, "lr": said.posterior_lr}
            return fit(network, self.parts.val, seed=derive(said.seed, "posterior"), **how)

    @cached_property
    def proxied(self) -> Proxied:
        """Scores of architectures by the proxy that stands in for a supernet."""
        return Proxied(self.settings, self.parts.train)

    @cached_property
    def labels(self) -> Tensor:
        """Of the validation data, (samples,)."""
        return labels_of(self.parts.val)

    # -- estimates ----------------------------------------------------------------------------------------------------
    def estimates(self, part: str = "val") -> Estimates:
        """Predictions by inherited weights on a part, counted afresh; what was predicted before is not predicted again."""
        data = getattr(self.parts, part)
        return Estimates(self.supernet, data, self.parts.train, known=self._known if part == "val" else None)

    # -- time ---------------------------------------------------------------------------------------------------------
    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add to the seconds that a stage took, in `seconds.json`."""
        began = time.monotonic()
        yield
        self.add_seconds(stage, time.monotonic() - began)

    def add_seconds(self, stage: str, spent: float) -> None:
        """Keep them."""
        self._seconds[stage] = self._seconds.get(stage, 0.0) + spent
        self.shelf.write("seconds.json", self._seconds)

    @cached_property
    def _seconds(self) -> dict[str, float]:
        return dict(self.shelf.read("seconds.json") or {})

    @property
    def seconds(self) -> dict[str, float]:
        """By stage; of a stage that was killed, those of the process that ended it."""
        return dict(self._seconds)
