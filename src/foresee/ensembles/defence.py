"""One member is attacked, all answer: how much an ensemble knows where each of its members, one by one, has been fooled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from foresee.ensembles.attacks.base import BATCH, Attacked, checked, plain, where
from foresee.ensembles.attacks.base import attacks as known_attacks
from foresee.ensembles.defended import OUTSIDER, WHOLE, Defence, Defended, Round
from foresee.ensembles.ensemble import Ensemble, combine
from foresee.errors import InputError, shown
from foresee.probes.state import untouched
from foresee.registry import tidy
from foresee.seeds import derive

#: those of the thesis, Table 5.4
ATTACKS = ("fgsm", "pgd", "cw", "autoattack")


def defend(
    members: nn.Module | Sequence[nn.Module],
    images: Tensor,
    labels: Tensor,
    *,
    attacks: Sequence[str] | Mapping[str, Mapping[str, Any]] = ATTACKS,
    outsider: nn.Module | None = None,
    whole: bool = False,
    seed: int = 0,
    batch: int = BATCH,
    known: Iterable[Round] = (),
    told: Callable[[Round], object] = lambda one: None,
) -> Defence:
    """Attack each member white-box, and let the ensemble, the mean of all members' probabilities, answer.

    The samples of all columns are the same, those that a network gets wrong by itself among them. A single network is an
    ensemble of one: it defends nothing.

    Args:
        members: classifiers of pixels from 0 to 1 (each normalises by itself), or an `Ensemble` of such.
        images: (n, ...), in [0, 1].
        labels: (n,).
        attacks: names, or names with settings; the settings are those of the thesis otherwise.
        outsider: a network that does not belong to the ensemble: what its adversarial images do is the control.
        whole: whether to attack the ensemble too, as one network: what is left when the attacker knows all of it.
        seed: of random starts; each attack on each member has its own.
        batch: samples at once.
        known: rounds that were done before, with the same arguments: they are not done again.
        told: hears of each new round.

    >>> _ = torch.manual_seed(0)
    >>> members = [nn.Sequential(nn.Flatten(), nn.Linear(4, 3)) for _ in range(3)]
    >>> found = defend(members, torch.rand(6, 1, 2, 2), torch.arange(6) % 3, attacks={"fgsm": {"eps": 0.1}})
    >>> [one.member for one in found["fgsm"].rounds], len(found.clean)
    ([0, 1, 2], 3)
    """
    networks, average = members_of(members), str(getattr(members, "average", "probabilities"))
    wanted = {tidy(name): dict(attacks[name]) if isinstance(attacks, Mapping) else {} for name in attacks}
    for name in wanted:
        known_attacks[name]  # an unknown name is said before anything is done
    clean, truth = checked(images, labels)
    there = {(one.attack, one.member): one for one in known}
    before = [outputs_of(network, clean, batch).argmax(1) == truth for network in networks]
    together = answered(networks, clean, batch, average) == truth

    def round_of(name: str, place: int, network: nn.Module) -> Round:
        if (name, place) not in there:
            own = derive(seed, name, place)
            found = known_attacks[name](network, clean, truth, seed=own, batch=batch, **wanted[name])
            after = answered(networks, found.images, batch, average) == truth
            there[name, place] = _judged(found, place, together, after)
            told(there[name, place])
        return there[name, place]

    rows = tuple(
        Defended(
            attack=name,
            settings=settings,
            rounds=tuple(round_of(name, place, network) for place, network in enumerate(networks)),
            control=None if outsider is None else round_of(name, OUTSIDER, outsider),
            whole=round_of(name, WHOLE, Ensemble(networks, average)) if whole else None,
        )
        for name, settings in wanted.items()
    )
    shares = tuple(float(one.double().mean()) for one in before)
    return Defence(len(clean), len(networks), seed, float(together.double().mean()), shares, rows)


def members_of(networks: nn.Module | Iterable[nn.Module]) -> list[nn.Module]:
    """The networks that answer together: a list of them, a module with `members`, or a single network.

    >>> len(members_of(nn.Identity())), len(members_of([nn.Identity(), nn.Identity()]))
    (1, 2)
    """
    held = getattr(networks, "members", None) if isinstance(networks, nn.Module) else networks
    if isinstance(networks, nn.Module) and not isinstance(held, nn.ModuleList | list | tuple):
        return [networks]
    found = list(held) if isinstance(held, Iterable) else []
    if not found or not all(isinstance(one, nn.Module) for one in found):
        raise InputError(f"members {shown(networks)}: expected a network, or a list of networks")
    return found


def outputs_of(network: nn.Module, images: Tensor, batch: int = BATCH) -> Tensor:
    """Logits, float64 of shape (n, classes) on the CPU; the network in evaluation mode, and left as found."""
    device = where(network, images)
    with untouched(network):
        network.eval()
        parts = [plain(network, part.to(device)).double().cpu() for part in torch.split(images, batch)]
    return torch.cat(parts)


def answered(
    networks: Sequence[nn.Module], images: Tensor, batch: int = BATCH, average: str = "probabilities"
) -> Tensor:
    """The classes that an ensemble takes images for, (n,)."""
    found = [outputs_of(one, images, batch) for one in networks]
    if len({one.shape[1] for one in found}) > 1:
        raise InputError(f"members with {sorted({one.shape[1] for one in found})} classes: they have to be the same")
    return combine(torch.stack(found), average).argmax(1)


def _judged(found: Attacked, place: int, before: Tensor, after: Tensor) -> Round:
    """What came of an attack; `before` and `after`: whether the ensemble was right at clean and at changed images."""
    turned = found.right & found.success
    could = turned & before
    spent = (float(found.queries.double().mean()), float(found.gradients.double().mean()))
    return Round(
        *(found.attack, place, found.clean_accuracy, found.accuracy, float(after.double().mean())),
        carried=float((~after[could]).double().mean()) if could.any() else None,
        linf=float(found.linf[turned].mean()) if turned.any() else None,
        l2=float(found.l2[turned].mean()) if turned.any() else None,
        queries=spent[0],
        gradients=spent[1],
    )
