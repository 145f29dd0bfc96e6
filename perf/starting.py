"""What a search costs before and beside its scores: three candidates, in this process and in two others.

Workers that are started afresh import torch one by one after the parent has done so; those of the command line are forked
from a process that imports it meanwhile (`foresee.runs.engines.get_ready`). Times are by the wall, from the first instruction
to the last score, the least of some runs.

    python -m perf starting
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

from perf.harness import How, Row

SECONDS = 90
SEARCH = """
if __name__ == "__main__":
    if {ready}:
        from foresee.runs.engines import get_ready
        get_ready("foresee.scoring.ready")
    from foresee.searchers import SearchSettings, run_search
    asked = {{"space": "nasbench201", "space_settings": {{"channels": 4}}, "proxies": ["grad_norm"], "evaluations": 3}}
    asked |= {{"data": "synthetic", "inputs": [3, 8, 8], "outputs": 4}}
    run_search(SearchSettings.from_json(asked), engine={engine!r}, workers=2)
"""


def seconds(runs: int, *command: str) -> float:
    """The least time of some runs of a program."""
    found = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
        found.append(time.perf_counter() - start)
    return min(found)


def measure(how: How) -> Iterator[Row]:
    """The first look at the command line beside `import torch`, and two processes beside one."""
    runs = 1 if how.quick else 3
    imported = seconds(runs, "-c", "import torch")
    yield Row("foresee --help", seconds(runs, "-m", "foresee", "--help"), imported, "`import torch`", 1.0)
    serial = seconds(runs, "-c", SEARCH.format(engine="serial", ready=False))
    yield Row("three candidates", serial, imported, "`import torch`")
    forked = seconds(runs, "-c", SEARCH.format(engine="processes", ready=True))
    yield Row("three candidates, two forked processes", forked, serial, "in one process", 1.5)
