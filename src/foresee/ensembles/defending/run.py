"""From folders to a measured defence that survives anything: every round of attack is kept, and none is done twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from foresee.devices import usable
from foresee.ensembles.attacks.base import BATCH
from foresee.ensembles.attacks.masking import Masking, find_masking
from foresee.ensembles.defence import ATTACKS, defend
from foresee.ensembles.defended import OUTSIDER, WHOLE, Round
from foresee.ensembles.defending.asked import asked_attacks
from foresee.ensembles.defending.kept import Kept
from foresee.ensembles.defending.samples import Samples, samples_of
from foresee.ensembles.defending.targets import Target, Targeted, target_of
from foresee.ensembles.defending.withstood import Withstood
from foresee.errors import InputError
from foresee.runs.environment import environment
from foresee.runs.events import Announcer, Event, Observer
from foresee.runs.progress import watched
from foresee.spaces.find import Said

#: samples that are attacked where nobody says how many
SAMPLES = 256
#: of these, so many are looked at for masked gradients: a hundred say something; and the queries of the attack without any
LOOKED_AT, QUERIES = 128, 500


def defend_kept(
    what: Targeted,
    data: Any = None,
    *,
    attacks: Sequence[str] | Mapping[str, Mapping[str, Any]] = ATTACKS,
    eps: float | None = None,
    samples: int | None = SAMPLES,
    outsider: str | Path | nn.Module | None = None,
    whole: bool = False,
    masking: bool = True,
    out: str | Path | None = None,
    seed: int = 0,
    device: str = "cpu",
    batch: int = BATCH,
    code: nn.Module | None = None,
    space: Said | None = None,
    observers: Iterable[Observer] = (),
    progress: bool = False,
) -> Withstood:
    """Attack each network of a folder white-box, let all answer, and keep what came of it.

    Args:
        what: the folder of an ensemble, of a training, or several trainings; or modules that take pixels from 0 to 1.
        data: images to attack, as for a training; None: those that the networks were judged by, where these have a name.
        attacks: names, or names with settings (`{"pgd": {"steps": 10}}`).
        eps: the largest change of a pixel for all attacks that have one; None: the thesis' 0.01.
        samples: how many images, at most; None: all.
        outsider: a training's folder (or a module) that does not belong to the ensemble: the control.
        whole: whether to attack the ensemble too, as one network.
        masking: whether to look for masked gradients in each network.
        out: the folder that keeps it; None keeps nothing. The same call goes on, and more attacks extend it.
        seed: draws the samples and random starts.
        device: where.
        batch: samples at once.
        code: for the folder of a network of your own: that network.
        space: for an architecture of an own space: the function or the space.
        observers: are told what happens.
        progress: show a line of progress.

    >>> import torch
    >>> _ = torch.manual_seed(0)
    >>> networks = [nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 10)) for _ in range(2)]
    >>> found = defend_kept(networks, "digits", attacks=["fgsm"], samples=20, masking=False)
    >>> found.defence.samples, found.names
    (20, ('network 0', 'network 1'))
    """
    wanted = asked_attacks(attacks, eps)
    there = usable(device)
    target = target_of(what, code=code, space=space)
    control = None if outsider is None else target_of(outsider, code=code, space=space)
    if control is not None and len(control.ensemble) > 1:
        raise InputError(f"{outsider}: is an ensemble; the control is one network, such as {outsider}/members/0")
    chosen = samples_of(target, data, count=samples, seed=seed)
    asked = {
        **target.words,
        "outsider": None if control is None else control.words["networks"][0],
        "data": dict(chosen.words),
        "seed": seed,
    }
    with ExitStack() as stack:
        kept = Kept(None if out is None else Path(out), asked)
        kept.hold(stack)
        doing = _Doing(target, control, chosen, wanted, there, batch, kept, Announcer(watched(observers, progress)))
        return doing.run(whole=whole, masking=masking)


@dataclass(frozen=True, eq=False)
class _Doing:
    """All rounds, and the looks for masked gradients."""

    target: Target
    control: Target | None
    samples: Samples
    wanted: Mapping[str, Mapping[str, Any]]
    device: torch.device
    batch: int
    kept: Kept
    tell: Announcer

    def run(self, *, whole: bool, masking: bool) -> Withstood:
        """Rounds that are missing, then looks that are."""
        together = self.target.ensemble.to(self.device)
        outside = None if self.control is None else self.control.members[0].to(self.device)
        known = self.kept.known(self.wanted)
        count = len(together) + (outside is not None) + whole
        looks = self._looks(whole) if masking else {}
        eps = self._eps()
        total = len(self.wanted) * count + len(looks)
        done = self._count(known, outside is not None, whole) + sum(
            self.kept.looked(place, eps) is not None for place in looks
        )
        self.tell(Event("resumed" if done else "started", done, total, None, {"kept": done}))

        def told(one: Round) -> None:
            nonlocal done
            self.kept.add(one, self.wanted[one.attack])
            done += 1
            self.tell(Event("scored", done, total, None, {"doing": f"{one.attack} on {self._name(one.member)}"}))

        found = defend(
            together,
            self.samples.images,
            self.samples.labels,
            attacks=self.wanted,
            outsider=outside,
            whole=whole,
            seed=int(self.kept.asked["seed"]),
            batch=self.batch,
            known=known,
            told=told,
        )
        signs: dict[int, Masking] = {}
        for place, network in looks.items():
            before = self.kept.looked(place, eps)
            if before is None:
                before = find_masking(
                    network,
                    self.samples.images[:LOOKED_AT],
                    self.samples.labels[:LOOKED_AT],
                    eps=eps,
                    queries=QUERIES,
                    seed=int(self.kept.asked["seed"]),
                    batch=self.batch,
                )
                self.kept.look(place, eps, before)
                done += 1
                self.tell(Event("scored", done, total, None, {"doing": f"masked gradients of {self._name(place)}"}))
            signs[place] = before
        self.tell(Event("finished", done, total))
        self.kept.write()
        made = Withstood(
            *(found, self.kept.asked, signs, self._notes(), self.kept.seconds, self.kept.folder, environment())
        )
        self.kept.write(made)
        return made

    def _looks(self, whole: bool) -> dict[int, nn.Module]:
        found: dict[int, nn.Module] = dict(enumerate(self.target.members))
        return {**found, WHOLE: self.target.ensemble} if whole else found

    def _count(self, known: Sequence[Round], outside: bool, whole: bool) -> int:
        places = {*range(len(self.target.ensemble)), *([OUTSIDER] if outside else []), *([WHOLE] if whole else [])}
        return len({(one.attack, one.member) for one in known if one.member in places})

    def _eps(self) -> float:
        """The ε of the attacks, the first that has one."""
        said = [settings["eps"] for settings in self.wanted.values() if settings.get("eps")]
        return float(said[0]) if said else 0.01

    def _name(self, place: int) -> str:
        if place == WHOLE:
            return "the ensemble"
        return self.target.names[place] if place >= 0 or self.control is None else self.control.names[0]

    def _notes(self) -> tuple[str, ...]:
        return (f"images of {self.samples.words['name']}", *([self.samples.seen] if self.samples.seen else []))
