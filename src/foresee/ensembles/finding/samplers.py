"""How the members of an ensemble are chosen: by name, each saying what it needs and what it spends.

`mc` and `svgd_rd` are NESBS (thesis, Algorithms 5.1 to 5.3), `uniform` is the same without a posterior (URS). What is
published elsewhere is in `rivals` and `nes`. A new one is a class with `choose` in a file of this room.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from foresee.ensembles.finding.deltas import optimised, svgd_rd_drawn, tempered
from foresee.ensembles.finding.members import Member, numbered
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.ensembles.finding.workshop import Common
from foresee.ensembles.sampling import sample_mc
from foresee.ensembles.selecting import Selected, nesbs
from foresee.errors import InputError
from foresee.registry import Registry
from foresee.seeds import derive, stream
from foresee.spaces.find import Said


@dataclass(frozen=True)
class Chosen:
    """The members that a sampler chose, not yet trained (or trained in a pool), and what it looked at.

    Args:
        members: in order.
        loss: of the chosen ensemble, as it was judged by; None where nothing was judged.
        tried: of all ensembles that were judged, in order.
        evaluated: networks that were looked at so far, after each of them.
        pool: members that had to be trained for the choice.
        details: what else is to be known, plain values (`deltas`).
    """

    members: tuple[Member, ...]
    loss: float | None = None
    tried: tuple[float, ...] = ()
    evaluated: tuple[int, ...] = ()
    pool: tuple[Member, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """What `selected.json` holds."""
        return {
            "architectures": [one.text for one in self.members],
            "loss": self.loss,
            "tried": list(self.tried),
            "evaluated": list(self.evaluated),
            "members": [one.to_json() for one in self.members],
            "pool": [one.to_json() for one in self.pool],
            **self.details,
        }

    @classmethod
    def from_json(cls, plain: dict[str, Any], space: Said | None = None) -> Chosen:
        """Inverse of `to_json`; an own space has to be said."""
        known = ("architectures", "loss", "tried", "evaluated", "members", "pool")
        return cls(
            tuple(Member.from_json(one, space) for one in plain["members"]),
            plain["loss"],
            tuple(plain["tried"]),
            tuple(plain["evaluated"]),
            tuple(Member.from_json(one, space) for one in plain["pool"]),
            {key: value for key, value in plain.items() if key not in known},
        )


class Sampler(ABC):
    """Base of all. One is made with its settings and, where its name has a colon, with what stands behind it."""

    #: one line for listings
    summary: ClassVar[str] = ""
    #: whether a supernet has to be trained, a posterior fitted, a pool of networks trained before it can choose
    needs_supernet: ClassVar[bool] = False
    needs_posterior: ClassVar[bool] = False
    needs_pool: ClassVar[bool] = False
    #: whether each member starts from the one before (snapshots); whether members are one network that drops paths
    in_a_row: ClassVar[bool] = False
    drops_paths: ClassVar[bool] = False

    def __init__(self, settings: EnsembleSettings, of: str = "") -> None:
        self.settings, self.of = settings, of
        if of and not self.takes:
            raise InputError(f"sampler {settings.sampler}: nothing may stand behind its name; leave :{of} out")

    #: what may stand behind the colon of its name; "" for nothing
    takes: ClassVar[str] = ""

    @abstractmethod
    def choose(self, common: Common) -> Chosen:
        """The members."""

    @property
    def training_free(self) -> bool:
        """Whether its posterior comes from a proxy, so that it does without a supernet."""
        return self.needs_posterior and self.settings.training_free

    @property
    def has_supernet(self) -> bool:
        """Whether a supernet is trained for it."""
        return self.needs_supernet and not self.training_free

    def trains(self) -> int:
        """Networks that are trained in all: those of a pool, or the members."""
        return self.settings.pool_size if self.needs_pool else self.settings.size


#: by name
samplers: Registry[type[Sampler]] = Registry("sampler", group="foresee.samplers", home="foresee.ensembles.finding")


def sampler_of(settings: EnsembleSettings) -> Sampler:
    """The sampler that the settings name.

    >>> sampler_of(EnsembleSettings("nasbench201", sampler="mc")).needs_posterior
    True
    """
    whole, (head, _, of) = settings.sampler, settings.sampler.partition(":")
    return samplers[whole](settings) if whole in samplers else samplers[head](settings, of)


class Drawing(Sampler):
    """Algorithm 5.1: T ensembles are drawn, that of the least estimated validation loss is taken."""

    needs_supernet = True

    def choose(self, common: Common) -> Chosen:
        """By inherited weights; where the posterior comes from a proxy, by that."""
        draw = self.draw(common)
        if self.training_free:
            found = by_proxy(draw, common, self.settings.iterations)
        else:
            found = nesbs(draw, common.estimates(), self.settings.iterations)
        return self.chosen_of(found, common, self.details())

    def chosen_of(self, found: Selected, common: Common, details: dict[str, Any]) -> Chosen:
        """A selection as members."""
        members = numbered(map(common.candidate, found.architectures))
        spent = {"scores": common.proxied.scored} if self.training_free else {}
        return Chosen(tuple(members), found.loss, found.tried, found.evaluated, (), {**details, **spent})

    def details(self) -> dict[str, Any]:
        """What else is to be known of the draws that were made."""
        return {}

    @abstractmethod
    def draw(self, common: Common) -> Callable[[int], Sequence[Any]]:
        """What gives the architectures of draw number t."""


def by_proxy(draw: Callable[[int], Sequence[Any]], common: Common, iterations: int) -> Selected:
    """Algorithm 5.1 with a proxy in the place of inherited weights."""
    drawn = [tuple(draw(number)) for number in range(iterations)]
    seen: set[str] = set()
    evaluated = []
    for one in drawn:
        seen |= set(map(str, one))
        evaluated.append(len(seen))
    losses = [common.proxied.loss(one) for one in drawn]
    return Selected(drawn[losses.index(min(losses))], min(losses), tuple(losses), tuple(evaluated))


@samplers.register("mc")
class MonteCarlo(Drawing):
    """Independent draws from the posterior (Algorithm 5.2)."""

    summary = "NESBS, Monte Carlo sampling: members are independent draws from the posterior of architectures"
    needs_posterior = True

    def draw(self, common: Common) -> Callable[[int], Sequence[Any]]:
        """Each with a seed of its own."""
        seed, size = self.settings.seed, self.settings.size
        return lambda t: [
            common.architecture(path)
            for path in sample_mc(tempered(common, self.settings), size, derive(seed, "draw", t))
        ]


@samplers.register("svgd_rd")
class SteinRegularised(Drawing):
    """Particles that are likely and apart (Algorithm 5.3); delta as it is said, or looked for by the T draws."""

    summary = "NESBS, SVGD-RD: members are likely under the posterior and differ as much as delta says"
    needs_posterior = True

    def draw(self, common: Common) -> Callable[[int], Sequence[Any]]:
        """Each with a delta and particles of its own."""
        self._deltas: list[float] = []
        return svgd_rd_drawn(common, self.settings, self._deltas)

    def choose(self, common: Common) -> Chosen:
        """Where delta is looked for by Bayesian optimisation, each draw's depends on what became of those before."""
        if self.settings.delta is None and self.settings.delta_by == "bayes":
            found, deltas = optimised(common, self.settings)
            return self.chosen_of(found, common, {"deltas": deltas})
        return super().choose(common)

    def details(self) -> dict[str, Any]:
        """The delta of each draw."""
        return {"deltas": list(self._deltas)}


@samplers.register("uniform")
class UniformSampling(Drawing):
    """Members are drawn uniformly from the space; the best of T ensembles is taken all the same (URS, 5.4.1)."""

    summary = "uniform sampling (URS): as NESBS, with the uniform distribution in place of the posterior"

    def draw(self, common: Common) -> Callable[[int], Sequence[Any]]:
        """Each member with a seed of its own."""
        seed, size = self.settings.seed, self.settings.size
        return lambda t: [common.space.sample(stream(seed, "uniform", t, number)) for number in range(size)]
