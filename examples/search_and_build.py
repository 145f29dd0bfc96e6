"""Search NAS-Bench-201 under a hard limit, then build the winner, here or in any other process."""

import tempfile
from pathlib import Path

import torch

import foresee as fs


def main() -> None:
    out = Path(tempfile.mkdtemp()) / "run"
    run = fs.search(
        fs.spaces.get("nasbench201", channels=4, cells=1),  # thin networks: this is an example, not a benchmark
        proxies=["dextr", "params"],
        searcher="evolution",
        budgets=[fs.budgets.params < 20e3],
        evaluations=30,
        seed=1,
        out=out,
        searcher_settings={"population": 10, "sample": 3},
    )
    best = run.record.best
    print(
        f"best of {len(run.record.scored)}: {best.architecture}, dextr {best.merit:.3f}, {best.counts['params']:,} params"
    )

    network = fs.build(out)  # reads best.json: no search, no pickle
    print("logits", tuple(network(torch.zeros(2, 3, 32, 32)).shape))
    print("report", fs.report.write(out).name)


if __name__ == "__main__":
    main()
