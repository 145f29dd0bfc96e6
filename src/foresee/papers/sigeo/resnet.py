"""SiGeo's Table 4: what evolution finds in the ResNet-like space under one million parameters, by eight proxies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foresee import budgets
from foresee.papers.base import reproduction
from foresee.papers.cells import Cell, Found
from foresee.papers.searches import folder
from foresee.papers.workshop import NOT_ASKED, Workshop
from foresee.searchers.run import Run
from foresee.searchers.search import search
from foresee.spaces.candidate import Candidate
from foresee.statistics import mean_of_few
from foresee.training.loop import train

#: what stands in for a row of the table: the proxy that evolution follows; the first is not searched for at all
PROXIES = {
    "random": "params",
    "flops": "flops",
    "grad-norm": "grad_norm",
    "synflow": "synflow",
    "naswot": "naswot",
    "zen": "zen",
    "zico": "sigeo",
    "sigeo": "sigeo",
}
#: Appendix H computes ZiCo from four batches too: SiGeo's first term alone
OWN = {"zico": {"sigeo": {"lambda2": 0.0}}}
#: our own row: SiGeo after every candidate was warmed up by itself
WARM = "sigeo-warm-up"
#: Appendix H: SiGeo and ZiCo from batches of 64, networks of at most so many parameters
BATCH, PARAMS = 64, 1_000_000
#: the paper has 480,000 candidates, a population of 512 and 1440 epochs of `zennas_cifar`; `warmup` is that of our row
REDUCED: dict[str, Any] = {
    "evaluations": 30,
    "population": 8,
    "initial": 6,
    "recipe": "fast",
    "epochs": 10,
    "warmup": "10%",
}


@reproduction("sigeo-table-4", judged=False, by_row=True, settings=REDUCED)
def table_4(workshop: Workshop) -> Iterator[Found]:
    """What elitist evolution finds by each proxy in the ResNet-like space, and its test accuracy after a short training.

    The paper's procedure (Appendices F.4, H) at a small size: a start of mutated small networks, 30 candidates of at most
    one million parameters in place of 480,000, a population of 8 in place of 512, batches of at most 64, ten epochs of
    the recipe `fast` in place of 1440 of `zennas_cifar` with a teacher. So the accuracies are not the paper's and none is
    judged; params and MACs are exact. Random is one draw within the limit. The row sigeo-warm-up is ours: every candidate
    is warmed up by itself on 10 % of the images and scored with the weights 1, 50, 1. Means over --repeats searches (the
    paper: three). --set table.evaluations, population, recipe, epochs (0: no training) and warmup change the size.
    """
    own = workshop.own(REDUCED)
    for row in (*PROXIES, WARM):
        if workshop.rows and ("sigeo" if row == WARM else row) not in workshop.rows:  # ours comes with the paper's
            yield Cell.missing(row, "cifar10", NOT_ASKED)
            continue
        seeds = range(workshop.seed, workshop.seed + workshop.repeats)
        runs = [searched(workshop, row, own, seed) for seed in seeds]
        counts = [run.best.space.counts(run.best.architecture, run.best.task) for run in runs]
        yield Cell(row, "params (million)", mean_of_few([one.params / 1e6 for one in counts]))
        yield Cell(row, "MACs (million)", mean_of_few([one.macs / 1e6 for one in counts]))
        steered = [run.record.best for run in runs]
        yield Cell(row, "score", mean_of_few([one.merit for one in steered if one and one.merit is not None]))
        yield accuracy(workshop, row, [run.best for run in runs], own)
        yield Cell.missing(row, "cifar100", "the run looks at one data set")
    workshop.note("the numbers of the paper are of 480,000 candidates and 1440 epochs: nothing is judged against them")


def searched(workshop: Workshop, row: str, own: Mapping[str, Any], seed: int) -> Run:
    """The search of one row under one seed; kept beside the scores, and gone on with, where those are."""
    drawn, warm = row == "random", row == WARM
    asked: dict[str, Any] = {
        "proxies": ["sigeo:vision" if warm else PROXIES[row]],
        "proxy_settings": OWN.get(row, {}),
        "searcher": "random" if drawn else "elitist_evolution",
        "searcher_settings": {} if drawn else {key: own[key] for key in ("population", "initial")},
        "evaluations": 1 if drawn else own["evaluations"],
        "space_settings": dict(workshop.space_settings.get("resnet", {})),
        "data": workshop.looked_at(),
        "inputs": (3, 32, 32),
        "outputs": 10,
        "batch_size": min(BATCH, workshop.batch_size or BATCH),
        "threads": workshop.threads,
        "device": workshop.device,
        "seed": seed,
        "finalists": 0,
        **({"warmup": own["warmup"], "warmup_by": "network"} if warm else {}),
    }
    return search(
        "resnet",
        **asked,
        budgets=[budgets.params <= PARAMS],
        out=folder(workshop, "searches", ["resnet", asked]),
        resume=True,
        engine=workshop.engine,
        workers=workshop.workers,
        observers=workshop.observers,
    )


def accuracy(workshop: Workshop, row: str, found: Sequence[Candidate], own: Mapping[str, Any]) -> Cell:
    """The mean test accuracy of what was found, each trained from its first weights; without a teacher, which is nobody's."""
    if not own["epochs"]:
        return Cell.missing(row, "cifar10", "not trained in this run (--set table.epochs=10)")
    each, samples = [], 0
    for seed, one in enumerate(found, workshop.seed):
        asked = {"recipe": own["recipe"], "epochs": own["epochs"], "seed": seed, "device": workshop.device}
        told = {**asked, "architecture": str(one.architecture), "data": workshop.looked_at()}
        out = folder(workshop, "searches", ["resnet", told])
        done = train(one, workshop.looked_at(), **asked, distil=0.0, out=out, resume=out is not None)
        if done.test is None or done.test.accuracy is None:
            return Cell.missing(row, "cifar10", f"{workshop.looked_at()} has no classes to test on")
        each.append(100 * done.test.accuracy)
        samples = done.test.samples
    words = f"{own['epochs']} epochs of {own['recipe']}, {samples:,} images to test on"
    return Cell(row, "cifar10", mean_of_few(each), words)
