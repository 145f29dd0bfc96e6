"""Runs that never happened, with plausible numbers, and a small space to draw them with."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from foresee.errors import InputError
from foresee.runs.record import CandidateRow, EventRow, Objective, Record, ScoreRow, StepRow
from foresee.spaces.base import Graph, Space, spaces
from foresee.task import Task

OPS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
PARAMS = (0, 0, 25_000, 215_000, 0)
MACS = (0, 0, 3_700_000, 32_000_000, 0)
EDGES = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))
HOSTILE = "<script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">'\"&{{7*7}}"
START = 1_700_000_000.0


class PaperCell(Space[str]):
    """Cells of four nodes, by text only: enough to draw them."""

    name = "paper_cell"

    def sample(self, rng: random.Random) -> str:
        return cell_text([rng.randrange(5) for _ in EDGES])

    def mutate(self, architecture: str, rng: random.Random) -> str:
        return self.sample(rng)

    def parse(self, text: str) -> str:
        if text.count("~") != 6:
            raise InputError(f"architecture {text!r}: six edges are needed")
        return text

    def build(self, architecture: str, task: Task) -> Any:
        raise NotImplementedError

    def graph(self, architecture: str) -> list[Graph]:
        names = [part.split("~")[0] for part in architecture.replace("+", "").split("|") if part]
        edges = tuple((a, b, name) for (a, b), name in zip(EDGES, names, strict=True))
        return [Graph(("in", "1", "2", "out"), edges, "cell")]


def cell_text(choice: list[int]) -> str:
    words = [f"|{OPS[op]}~{start}" for op, (start, _) in zip(choice, EDGES, strict=True)]
    return f"{words[0]}|+{''.join(words[1:3])}|+{''.join(words[3:])}|"


def made_up_record(
    many: int = 200,
    *,
    proxies: tuple[str, ...] = ("dextr",),
    direction: str = "higher",
    seed: int = 1,
    failures: float = 0.03,
    status: str = "finished",
    space: str = "paper_cell",
    limit: int | None = 600_000,
    scale: float = 1.0,
    **settings: Any,
) -> Record:
    """A search that gets better: later candidates are children of good ones."""
    rng = random.Random(seed)
    sign = 1.0 if direction == "higher" else -1.0
    rows: list[CandidateRow] = []
    pool: list[tuple[float, list[int], int]] = []
    clock = START
    for number in range(many):
        parent = None
        while True:
            if number < 30 or not pool:
                choice = [rng.randrange(5) for _ in EDGES]
            else:
                _, base, parent = max(rng.sample(pool, min(8, len(pool))))
                choice = list(base)
                choice[rng.randrange(6)] = rng.randrange(5)
            params = 73_306 + sum(PARAMS[op] for op in choice)
            if limit is None or params <= limit:
                break
        macs = 8_040_000 + sum(MACS[op] for op in choice)
        value = scale * (2.1 + 0.9 * math.log10(params / 73_306 + 1) + 0.2 * choice.count(1) - 0.25 * choice.count(0))
        value += scale * rng.gauss(0, 0.12)
        seconds = abs(rng.gauss(0.35, 0.08)) + 0.05
        clock += seconds + 0.02
        failed = rng.random() < failures
        scores = {}
        for position, name in enumerate(proxies):
            own = value * sign if not position else math.exp(value / scale + rng.gauss(0, 0.3)) * 10**position
            bad = failed or (position == 1 and rng.random() < 0.05)
            scores[name] = ScoreRow(
                name, None if bad else own, "nan" if bad else "ok", "the features are not finite" if bad else "",
                direction if not position else "higher", seconds / len(proxies), 50_000_000, number,
            )  # fmt: skip
        died = failed and rng.random() < 0.4
        reason = "the worker died twice (signal 9)" if died else f"{proxies[0]}: nan (the features are not finite)"
        rows.append(
            CandidateRow(
                id=number, architecture=cell_text(choice), identity=cell_text(choice), parent=parent,
                status="failed" if failed else "scored", merit=None if failed else value,
                reason=reason if failed else "",
                counts={"params": params, "macs": macs}, attempts=2 if died else 1, seconds=seconds,
                started=clock - seconds, finished=clock, scores={} if died else scores,
            )
        )  # fmt: skip
        if not failed:
            pool.append((value, choice, number))
            pool = pool[-40:]
    plain: dict[str, Any] = {
        "space": space, "space_settings": {}, "proxies": list(proxies), "proxy_settings": {}, "searcher": "evolution",
        "searcher_settings": {"population": 32}, "limits": {"params": {"max": limit}} if limit else {},
        "evaluations": 200, "seed": seed, "data": "digits", "repeats": 1, "window": 8, "threads": 1, "device": "cpu",
        **settings,
    }  # fmt: skip
    environment = {
        "foresee": "0.1.0", "python": "3.11.9", "torch": "2.13.0+cpu", "numpy": "2.3.0", "system": "Linux 6.1",
        "processor": "x86_64, 2 cores", "device": "cpu", "data_fingerprint": "b1946ac92492d234",
        "task": {"inputs": [3, 32, 32], "outputs": 10},
    }  # fmt: skip
    events = (EventRow(START, "started", None, {}), EventRow(clock, status, None, {}))
    return Record("search", status, START, plain, environment, tuple(rows), events)


def following(record: Record, *names: str, spread: bool = True, steps: int = 0) -> Record:
    """The same run as it would be had it followed these, proxies or counts; scores with spreads and parts, and steps."""
    scores = [row for c in record.candidates for row in c.scores.values()]
    ways = {row.proxy: row.direction for row in scores}
    sought = tuple(Objective(name, ways.get(name, "lower")) for name in names)

    def changed(c: CandidateRow) -> CandidateRow:
        rows = {name: drawn(row) if spread and row.value is not None else row for name, row in c.scores.items()}
        known = {name: row.value for name, row in c.scores.items()} | dict(c.counts)
        values = {name: float(value) for name in names if (value := known.get(name)) is not None}
        if c.status != "scored" or len(values) < len(names):
            return replace(c, status="failed", merit=None, reason="no value", scores=rows)
        merit = sought[0].merit(values[names[0]])
        return replace(c, merit=merit, objectives=values, scores=rows)

    def drawn(row: ScoreRow) -> ScoreRow:
        parts = {f"part {i}": (row.value or 0.0) / (i + 1) for i in range(3 if row.proxy == "dextr" else 12)}
        return replace(row, repeats=3, spread=0.125, parts=parts)

    rounds = tuple(StepRow(i, "rounds", {}, 0.35, START + (i - 3)) for i in range(steps))
    rows = tuple(map(changed, record.candidates))
    settings = {**record.settings, "objectives": list(names)}
    return replace(record, candidates=rows, objectives=sought, steps=rounds, settings=settings)


@pytest.fixture(scope="session")
def follow() -> Callable[..., Record]:
    return following


@pytest.fixture(scope="session")
def make_record() -> Callable[..., Record]:
    return made_up_record


@pytest.fixture(scope="session")
def poison() -> Callable[[Record, str], Record]:
    """Puts a string wherever a record holds text."""

    def change(record: Record, text: str) -> Record:
        def score(row: ScoreRow) -> ScoreRow:
            parts = {f"{text}{name}": value for name, value in row.parts.items()}
            return replace(row, proxy=text, reason=text, status="ok" if row.value is not None else text, parts=parts)

        def sought(values: Mapping[str, float]) -> dict[str, float]:
            return {f"{text}{i}": value for i, value in enumerate(values.values())}

        rows = tuple(
            replace(
                c, architecture=f"{text}{c.id}", identity=f"{text}{c.id}", reason=text, counts={**c.counts, text: 5},
                scores={row.proxy: row for row in map(score, c.scores.values())}, objectives=sought(c.objectives),
            )
            for c in record.candidates
        )  # fmt: skip
        asked = dict.fromkeys(("space", "searcher", "data", text), text) | {"proxies": [text]}
        settings = {**record.settings, **asked}
        return replace(
            record, title=text, settings=settings, environment={text: text}, candidates=rows,
            objectives=tuple(replace(one, name=f"{text}{i}") for i, one in enumerate(record.objectives)),
            steps=tuple(replace(step, kind=text) for step in record.steps),
        )  # fmt: skip

    return change


@pytest.fixture(scope="session")
def hostile() -> str:
    return HOSTILE


@pytest.fixture(scope="session", autouse=True)
def paper_cell() -> type[PaperCell]:
    if "paper_cell" not in spaces:
        spaces.add("paper_cell", PaperCell)
    return PaperCell
