"""One member attacked, the ensemble answers: Table 5.4 of the thesis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from foresee.ensembles.defence import defend
from foresee.ensembles.defended import Defence, Round
from foresee.ensembles.finding.members import Member
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found, Unavailable, missing
from foresee.papers.nesbs.rows import ENSEMBLES, OTHER, asked
from foresee.papers.nesbs.shared import Study, images_of
from foresee.papers.nesbs.work import by_seed
from foresee.papers.numbers import published
from foresee.papers.workshop import NOT_ASKED, Workshop
from foresee.seeds import derive
from foresee.statistics import mean_of_few
from foresee.training.export.answering import Answering

#: row -> sampler
ROWS = {
    "deepens-robnet-free": "deep:RobNet_free",
    "deepens-enas": "deep:ENAS",
    "deepens-darts": "deep:DARTS_V2",
    "nes-rs": "nes_rs",
    "nesbs-mc-sampling": "mc",
    "nesbs-svgd-rd": "svgd_rd",
}
#: column -> attack
ATTACKS = {"fgsm": "fgsm", "pgd40": "pgd", "cw": "cw", "autoattack": "autoattack"}
#: AutoAttack's standard: 100 steps, 9 targets, 5,000 queries
ATTACKED: Mapping[str, Any] = {
    **ENSEMBLES, "samples": 40, "attacks": tuple(ATTACKS), "attack_steps": 20, "attack_targets": 3,
    "attack_queries": 200, "outsider": "DARTS_V2"
}  # fmt: skip
#: the number of a network outside: one that no ensemble has, for members are numbered from 0 and at most 1,000
OUTSIDE = 1000


@reproduction("thesis-table-5.4", judged=False, by_row=True, by_data=True, settings=ATTACKED)
def table_5_4(workshop: Workshop) -> Iterator[Found]:
    """Accuracy (%) of an attacked member, and of the ensemble at the same changed images; means over the members (5.3.6).

    The ensembles are those of thesis-table-5.2; networks normalise by themselves, so that a change of 0.01 is of pixels from
    0 to 1. FGSM and PGD of 40 steps of 0.008 within 0.01; CW with 3 searches of 50 steps; AutoAttack within 0.01 of
    `attack_steps`, `attack_targets` and `attack_queries` (its standard: 100, 9, 5,000). The first `samples` of the test,
    right or wrong, are the same in all columns. Beside the printed columns: what is right without an attack, how much of
    what the attack turned the ensemble gets wrong too (carried), and a control: an `outsider`, that cell trained from a seed
    that no ensemble has, is attacked in the place of a member, and the ensemble answers for its images. All rows of a seed
    share the outsider ("" for none).
    """
    own = workshop.own(ATTACKED)
    images = images_of(workshop, own)
    columns = [column.name for column in published("thesis-table-5.4").columns]
    for row in published("thesis-table-5.4").rows:
        if row.group != images and not (images == "here" and row.group == "cifar10"):
            yield from missing([row.address], columns, OTHER)
            continue
        if workshop.rows and row.address not in workshop.rows:
            yield from missing([row.address], columns, NOT_ASKED)
            continue
        if images == "here":
            yield from missing([row.address], columns, OTHER)
        yield from _row(workshop, own, f"{images}/{row.key}", ROWS[row.key])


def _row(workshop: Workshop, own: Mapping[str, Any], row: str, sampler: str) -> Iterator[Cell]:
    found = list[Defence]()
    for name in own["attacks"]:

        def look(seed: int, name: str = name) -> Defence:
            return defended(Study(workshop, own, seed), own, sampler, ATTACKS[name])

        try:
            found = list(by_seed(workshop, look).values())
        except Unavailable as why:
            yield from missing([row], (f"{name}:attack", f"{name}:defense"), str(why))
            continue
        controls = [one.attacks[0].control for one in found]
        there = [one for one in controls if one is not None]
        attacked, defence = ([getattr(one.attacks[0], key) for one in found] for key in ("attacked", "defended"))
        for column, seen in ((f"{name}:attack", attacked), (f"{name}:defense", defence)):
            spreads = [one.deviation for one in seen if one.deviation is not None]
            words = f"± {100 * sum(spreads) / len(spreads):.2f} between members" if spreads else ""
            yield Cell(row, column, mean_of_few([100 * one.mean for one in seen]), words)
        gains = [100 * (after.mean - before.mean) for before, after in zip(attacked, defence, strict=True)]
        yield Cell(row, f"{name}:defense minus attack", mean_of_few(gains), "paired by seed")
        carried = [[one.carried for one in each.attacks[0].rounds if one.carried is not None] for each in found]
        shares = [100 * sum(one) / len(one) for one in carried if one]
        yield Cell(row, f"{name}:carried", mean_of_few(shares), "" if shares else "the attack turned nothing")
        if there:
            outside = f"a {own['outsider']} outside the ensemble is attacked"
            yield Cell(row, f"{name}:outsider", mean_of_few([100 * one.attacked for one in there]), outside)
            yield Cell(row, f"{name}:control", mean_of_few([100 * one.defended for one in there]), "the ensemble there")
    if not found:
        return
    clean = [sum(one.clean) / len(one.clean) for one in found]
    yield Cell(row, "clean:member", mean_of_few([100 * one for one in clean]), f"{found[0].samples} samples")
    yield Cell(row, "clean:ensemble", mean_of_few([100 * one.ensemble for one in found]))


def defended(study: Study, own: Mapping[str, Any], sampler: str, attack: str) -> Defence:
    """One attack against every member of an ensemble, kept by itself; then against the network outside, kept beside it."""
    reduced = {key: own[f"attack_{key}"] for key in ("steps", "targets", "queries")} if attack == "autoattack" else {}
    how = asked(own, sampler)
    said = [sampler, how, attack, reduced, own["samples"]]
    name = f"{sampler.replace(':', '-')}-{attack}"
    attacked = partial(_attacked, study, sampler, how, {attack: reduced})
    found = Defence.from_json(study.kept(f"defence-{name}", said, attacked))
    if cell := own["outsider"]:  # by itself, for it may be added later
        attacked = partial(attacked, cell=cell, known=found.attacks[0].rounds)
        found = Defence.from_json(study.kept(f"control-{name}", [*said, cell], attacked))
    return found


def _attacked(
    study: Study,
    sampler: str,
    how: Mapping[str, Any],
    attack: Mapping[str, Mapping[str, Any]],
    *,
    cell: str = "",
    known: Sequence[Round] = (),
) -> dict[str, Any]:
    run = study.run(sampler, **how)
    test, device = study.parts.test, study.settings.device
    count = min(study.own["samples"], len(test))
    seen = test.read(torch.arange(count))  # pixels, not normalised
    assert isinstance(seen.inputs, torch.Tensor)
    assert seen.labels is not None

    def answering(network: nn.Module) -> nn.Module:
        return Answering(network, run.statistics).to(device).eval()

    outside = answering(study.train(outsider(study, cell)).network) if cell else None
    members = [answering(one) for one in run.ensemble.members]
    seed = derive(study.seed, "attacks")
    found = defend(members, seen.inputs, seen.labels, attacks=attack, outsider=outside, seed=seed, known=known)
    return found.to_json()


def outsider(study: Study, cell: str) -> Member:
    """A network that is no member of any ensemble: a known cell, trained from a seed of its own."""
    return Member(study.common.candidate(study.common.space.named[cell]), OUTSIDE)
