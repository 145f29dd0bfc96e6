"""What a search costs before and beside its scores: three candidates, in this process and in two others.

Workers that are started afresh import torch one by one after the parent has done so; those of the command line are forked
from a process that imports it meanwhile (`foresee.runs.engines.get_ready`). Times are those from the first instruction to
the last score, the least of some runs, and each as a multiple of the serial one.
"""

from __future__ import annotations

import subprocess
import sys
import time

RUNS = 3
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
WAYS = {
    "serial": {"engine": "serial", "ready": False},
    "two processes, started afresh": {"engine": "processes", "ready": False},
    "two processes, forked": {"engine": "processes", "ready": True},
}


def seconds(*command: str) -> float:
    """The least time of some runs of a program."""
    found = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
        found.append(time.perf_counter() - start)
    return min(found)


def main() -> None:
    """Print the times."""
    alone = 0.0
    for name, how in WAYS.items():
        took = seconds("-c", SEARCH.format(**how))
        alone = alone or took
        print(f"{name:32} {took:6.2f} s  {took / alone:5.2f} x")
    helped, imported = seconds("-m", "foresee", "--help"), seconds("-c", "import torch")
    print(f"{'foresee --help':32} {helped:6.2f} s  {helped / imported:5.2f} x `import torch`")


if __name__ == "__main__":
    main()
