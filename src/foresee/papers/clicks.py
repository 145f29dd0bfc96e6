"""Click logs in the papers' tables: networks by hand and networks that searches find, trained and judged alike.

    own = workshop.own(REDUCED)
    yield from by_hand(workshop, "deepfm", own).cells("hand-crafted/deepfm", "criteo")
    yield from found(workshop, Method("sigeo", "1%"), "small", own).cells("sigeo-nasrec-small", "criteo")

A search is the one of the papers (batch-wise aging evolution; the foremost trained from scratch, the best by validation kept)
at a size that runs here. Searches and trainings are kept beside the scores (`--cache`, `--out`), so a table that was stopped
goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foresee.papers.cells import Cell
from foresee.papers.searches import folder
from foresee.papers.trained import seeds
from foresee.papers.workshop import Workshop
from foresee.recommenders import Handmade
from foresee.runs.record import Record
from foresee.searchers.foremost import train_best
from foresee.searchers.named import TrainedBest
from foresee.searchers.run import Run
from foresee.searchers.search import search
from foresee.statistics.student import mean_of_few
from foresee.training.loop import train
from foresee.training.trained import Trained

#: the logs that the papers print numbers of
LOGS = ("criteo", "avazu", "kdd2012")
#: what is looked at where nobody says otherwise
USUAL = "planted_clicks"
#: the papers: 2,048 candidates (128, then 240 generations of 8 children of the best of 64), 15 trained by ctr, a supernet by
#: nasrec_supernet, batches of 512, 500 steps of a last layer
REDUCED: Mapping[str, Any] = {
    "evaluations": 24,
    "population": 8,
    "sample": 4,
    "children": 2,
    "top": 3,
    "seeds": 1,
    "recipe": "ctr_reduced",
    "supernet": "nasrec_reduced",
    "batch": 64,
    "steps": 20,
    "drawn": 4,
    "spaces": ("small", "full"),
    "log": "",
}
#: the networks' size; the papers: 7 blocks, eight widths up to 1024, four up to 64 (--set nasrec_small.blocks=7)
REDUCED_SPACE: Mapping[str, Any] = {"blocks": 3, "dense_widths": (16, 32, 64), "sparse_widths": (16, 32)}
SECONDS, PARAMS = "search seconds", "params (million)"


@dataclass(frozen=True)
class Method:
    """How a network is searched for: `sigeo`, `zico` or `fisher_rao` after a warm-up, `nasrecnet` or `random`."""

    name: str
    level: str = ""

    def asked(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of its search that are its own."""
        evolution = {key: own[key] for key in ("population", "sample", "children")}
        asked: dict[str, Any] = {"searcher": "batch_evolution", "searcher_settings": evolution}
        asked["evaluations"] = own["evaluations"]
        if self.name == "random":  # draws that are trained: the others train as many of what they found
            measure = {"measure": "trained", "measure_recipe": own["recipe"], "evaluations": own["drawn"]}
            return {"searcher": "random", "proxies": ["params"], **measure}
        if self.name == "nasrecnet":
            measure = {"measure": "last_layer", "measure_recipe": own["supernet"], "measure_steps": own["steps"]}
            return {**asked, "proxies": ["params"], **measure}
        warm = self.level != "0%"
        weights = {"zico": (1.0, 0.0, 0.0), "fisher_rao": (0.0, 1.0, 0.0)}.get(self.name, (1.0, 1.0, float(warm)))
        lambdas = dict(zip(("lambda1", "lambda2", "lambda3"), weights, strict=True))
        asked |= {"proxies": ["sigeo"], "proxy_settings": {"sigeo": lambdas}, "batch_size": own["batch"]}
        return {**asked, **({"warmup": self.level, "warmup_recipe": own["supernet"]} if warm else {})}


@dataclass(frozen=True)
class Judged:
    """What networks of one row are worth: log loss and AUC by training, seconds of their searches, parameters."""

    losses: Sequence[float]
    aucs: Sequence[float]
    seconds: Sequence[float] = ()
    params: Sequence[float] = ()
    validation: float = 0.0
    words: str = ""

    @classmethod
    def of(cls, found: Sequence[Trained], searches: Sequence[Run] = (), words: str = "") -> Judged:
        """Of trainings, and of the searches before them."""
        judged = [one.judged for one in found if one.judged is not None]
        seen = [one.validation.loss for one in found if one.validation is not None]
        return cls(
            [one.loss for one in judged],
            [one.auc for one in judged if one.auc is not None],
            [spent(one.record) for one in searches],
            [float(one.facts["parameters"]) / 1e6 for one in found if "parameters" in one.facts],
            sum(seen) / len(seen) if seen else 0.0,
            f"{words}{judged[0].samples:,} rows to test on" if judged else words,
        )

    def cells(self, row: str, log: str) -> Iterator[Cell]:
        """Its cells in the columns of a log, and those that are ours alone."""
        yield Cell(row, f"{log}:logloss", mean_of_few(self.losses), self.words)
        yield Cell(row, f"{log}:auc", mean_of_few(self.aucs), "" if self.aucs else "all rows to test on say the same")
        if self.seconds:
            yield Cell(row, SECONDS, mean_of_few(self.seconds))
        if self.params:
            yield Cell(row, PARAMS, mean_of_few(self.params))


# -- what is trained and searched -----------------------------------------------------------------------------------------
def looked_at(workshop: Workshop) -> dict[str, Any]:
    """The log: its name or path, and the description of its columns where one was given."""
    if workshop.data is None:
        workshop.note(f"the log is {USUAL}, which is made here: give yours with --data (and --schema)")
    return {"data": workshop.data or USUAL, **({"schema": workshop.schema} if workshop.schema else {})}


def log_of(workshop: Workshop, own: Mapping[str, Any]) -> str:
    """Beside which columns ours stand: those of a printed log, or columns of their own (`here`)."""
    named = own["log"] or workshop.schema or ""
    if named in LOGS:
        workshop.note(f"ours is of the rows at hand, theirs of all rows of {named}: nothing is judged against them")
        return str(named)
    return "here"


def by_hand(workshop: Workshop, name: str, own: Mapping[str, Any]) -> Judged:
    """A network made by hand, trained under each seed."""
    return Judged.of([_trained(workshop, Handmade(name), own, seed) for seed in _trainings(workshop, own)])


def searched(workshop: Workshop, method: Method, size: str, own: Mapping[str, Any], seed: int) -> Run:
    """The search of one method in one space under one seed; kept beside the scores, and gone on with, where those are."""
    space = f"nasrec_{size}"
    asked: dict[str, Any] = {
        **method.asked(own),
        **looked_at(workshop),
        "space_settings": {**REDUCED_SPACE, "sampling": "published", **workshop.space_settings.get(space, {})},
        "threads": workshop.threads,
        "device": workshop.device,
        "seed": seed,
        "finalists": 0,
    }
    kept = folder(workshop, "searches", [space, asked])
    work: dict[str, Any] = {"engine": workshop.engine, "workers": workshop.workers, "observers": workshop.observers}
    return search(space, **asked, out=kept, resume=True, **work)


def foremost(workshop: Workshop, run: Run, own: Mapping[str, Any]) -> TrainedBest:
    """The best few of a search, trained from scratch, once each: as published."""
    return train_best(run, own["top"], own["recipe"], folds=0, observers=workshop.observers)


def found(workshop: Workshop, method: Method, size: str, own: Mapping[str, Any]) -> Judged:
    """What a method finds: of each search the best of the foremost by validation, under each seed of a training."""
    runs, trainings = [], []
    for seed in seeds(workshop):
        run = searched(workshop, method, size, own, seed)
        best = foremost(workshop, run, own).best
        assert best.trained is not None
        runs.append(run)
        trainings.append(best.trained)
        more = (seed + 1000 * again for again in range(1, own["seeds"]))
        trainings += [_trained(workshop, best.candidate, own, one) for one in more]
    candidates = len(runs[0].record.candidates)  # a random search draws fewer than others look at
    return Judged.of(trainings, runs, f"{min(own['top'], candidates)} of {candidates} candidates trained, ")


def _trained(workshop: Workshop, network: Any, own: Mapping[str, Any], seed: int) -> Trained:
    data = looked_at(workshop)
    out = folder(workshop, "trainings", [network.to_json(), data, own["recipe"], seed])
    how: dict[str, Any] = {"out": out, "resume": out is not None, "seed": seed, "device": workshop.device}
    return train(network, recipe=own["recipe"], observers=workshop.observers, **data, **how)


def _trainings(workshop: Workshop, own: Mapping[str, Any]) -> list[int]:
    return [seed + 1000 * again for seed in seeds(workshop) for again in range(own["seeds"])]


def spent(record: Record) -> float:
    """Seconds from the beginning of a search to its end, warm-up and measuring included.

    What lies between a stop and the resumption does not count, from the first candidate on.
    """
    end = min(one.time for one in record.events if one.kind == "finished")
    times = [record.created, *(one.time for one in record.events), *(one.finished for one in record.candidates)]
    resumed = [one.time for one in record.events if one.kind == "resumed" and one.time < end]
    return end - record.created - sum(time - max(one for one in times if one < time) for time in resumed)
