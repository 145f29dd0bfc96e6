"""Throughput against workers: the same scores in this process, in processes of this machine and on a Ray cluster of it.

Every engine has one torch thread per worker and does the same cells after each worker has done a first one, so starting is
no part of it. Engines take turns; a ratio is the median over the rounds of what was measured side by side. What two cores
can give at all is measured in the same way, by two processes that know nothing of each other (`apart`). Processor time, of
workers and of the command together, says what is lost to an engine also on a machine where others are at work. The second
table is what an engine costs by itself: jobs that do nothing. The figure lies in runs/perf/scaling.png.

    python perf/scaling.py [rounds] [workers ...]
"""

from __future__ import annotations

import multiprocessing
import os
import random
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from foresee.extras import available
from foresee.runs.engines import Engine, Serial, make
from foresee.scoring.scorer import Job, Scorer
from foresee.scoring.settings import ScoringSettings
from foresee.spaces import get

#: cells of a round, and jobs that do nothing
CELLS, EMPTY = 48, 2000
PROXY = "synflow"
#: engine and workers -> for each round, seconds for a job: by the clock, of processors
Found = dict[tuple[str, int], list[tuple[float, float]]]
FIGURE = Path("runs/perf/scaling.png")


def scorer() -> Scorer:
    return Scorer("nasbench201", ScoringSettings(proxies=(PROXY,), data="synthetic", inputs=(3, 32, 32)))


def cells(most: int) -> list[Job]:
    """Large and small ones in turn, the same in every round; enough that the last of them keep nobody waiting for long."""
    space = get("nasbench201")
    drawn = [str(space.sample(random.Random(seed))) for seed in range(max(CELLS, 12 * most))]
    return [Job((text,), (PROXY,), 0) for text in drawn]


class Timed:
    """Work whose value is the processor time that it took."""

    def __init__(self, work: Any) -> None:
        self.work = work

    def __call__(self, payload: Any) -> float:
        """Seconds of the processor."""
        start = time.process_time()
        self.work(payload)
        return time.process_time() - start


def nothing(payload: Any) -> Any:
    return payload


def done(engine: Engine, jobs: list[Any]) -> tuple[float, float]:
    """Seconds for these jobs: by the clock, and of processors."""
    start, own, spent = time.perf_counter(), time.process_time(), 0.0
    for number, job in enumerate(jobs):
        engine.submit(number, job)
    for _ in jobs:
        outcome = engine.wait()
        assert outcome.error is None, outcome.error
        spent += outcome.value
    own = time.process_time() - own
    return time.perf_counter() - start, own if isinstance(engine, Serial) else own + spent


def meet(engine: Engine, job: Any) -> None:
    """Until each worker has done something: what is imported and made once is no part of it."""
    for _ in range(3):
        done(engine, [job] * engine.workers)


def ways(workers: list[int]) -> Iterator[tuple[str, int]]:
    yield "serial", 1
    for name in ["processes", *(["ray"] if available("ray") else [])]:
        for many in workers:
            yield name, many


def measured(work: Any, jobs: list[Any], rounds: int, workers: list[int]) -> Found:
    """Seconds for a job, by the clock and of processors, of each engine, round by round."""
    found: Found = {way: [] for way in ways(workers)}
    with ExitStack() as stack:
        if available("ray"):  # one cluster with room for all of them
            import ray

            os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
            ray.init(
                "local", num_cpus=sum(workers), include_dashboard=False, log_to_driver=False, logging_level="ERROR"
            )
            stack.callback(ray.shutdown)
        made = {way: stack.enter_context(make(way[0], Timed(work), way[1])) for way in found}
        for engine in made.values():
            meet(engine, jobs[0])
        for _ in range(rounds):
            for way, engine in made.items():
                clock, processors = done(engine, jobs)
                found[way].append((clock / len(jobs), processors / len(jobs)))
    return found


def burn(jobs: list[Job], seconds: Any) -> None:
    work = scorer()
    work(jobs[0])
    start = time.perf_counter()
    for job in jobs:
        work(job)
    seconds.put(time.perf_counter() - start)


def apart(jobs: list[Job], rounds: int, many: int) -> float:
    """How much more `many` processes do that know nothing of each other than one: what the machine can give."""
    context = multiprocessing.get_context("spawn")

    def together(count: int) -> float:
        seconds = context.Queue()
        workers = [context.Process(target=burn, args=(jobs, seconds)) for _ in range(count)]
        for one in workers:
            one.start()
        took = max(seconds.get() for _ in workers)
        for one in workers:
            one.join()
        return count * len(jobs) / took

    return statistics.median(together(many) / together(1) for _ in range(rounds))


def table(title: str, found: Found, unit: float, words: str) -> None:
    print(f"\n{title}, {words} for each")
    print(
        f"{'engine':12} {'workers':>7} {'by the clock':>13} {'of processors':>14} {'to one worker':>14} {'to serial':>10}"
    )
    for (name, many), times in found.items():
        clock, processors = (unit * statistics.median(column) for column in zip(*times, strict=True))
        to = [
            statistics.median(base[0] / one[0] for base, one in zip(bases, times, strict=True))
            for bases in (found.get((name, 1), times), found["serial", 1])
        ]
        print(f"{name:12} {many:7} {clock:13.4g} {processors:14.4g} {to[0]:14.2f} {to[1]:10.2f}", flush=True)


def figure(found: Found) -> None:
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    drawn, axes = pyplot.subplots(figsize=(5, 3.5), layout="constrained")
    for name in dict.fromkeys(name for name, _ in found):
        points = [
            (many, 1 / statistics.median(time[0] for time in times))
            for (one, many), times in found.items()
            if one == name
        ]
        axes.plot(*zip(*points, strict=True), marker="o", label=name)
    axes.set(xlabel="workers, one thread each", ylabel="cells per second", ylim=(0, None))
    axes.legend()
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    drawn.savefig(FIGURE, dpi=120)
    print(f"\n{FIGURE}")


def main() -> None:
    """Print the tables and draw the figure."""
    rounds = int(sys.argv[1]) if sys.argv[1:] else 5
    workers = [int(one) for one in sys.argv[2:]] or [1, 2]
    most = max(workers)
    jobs = cells(most)
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    print(
        f"{len(jobs)} cells of nasbench201 by {PROXY}, {rounds} rounds; {os.cpu_count()} cores, load {load} before we begin"
    )
    found = measured(scorer(), jobs, rounds, workers)
    table("scores", found, 1e3, "ms")
    print(
        f"{'apart':12} {most:7} {'':28} {apart(jobs, rounds, most):14.2f}   what the machine gives, without an engine"
    )
    table("jobs that do nothing", measured(nothing, list(range(EMPTY)), rounds, workers), 1e6, "µs")
    if available("matplotlib"):
        figure(found)


if __name__ == "__main__":
    main()
