"""What proxies cost, as ratios in one run on one network: NAS-Bench-201, C = 16, N = 5.

One forward + backward at batch 64 is 1.0. The parts are interleaved and medians are compared, so that noise of the machine
hits all of them alike; the least and the most are printed beside them.
"""

from __future__ import annotations

import argparse
import statistics
import time

import torch
from torch.nn import functional as F

import foresee as fs

CELL = "|nor_conv_3x3~0|+|nor_conv_1x1~0|nor_conv_3x3~1|+|skip_connect~0|avg_pool_3x3~1|nor_conv_3x3~2|"
FAMILY = ["grad_norm", "snip", "plain", "fisher", "l2_norm", "m_grad", "m_snip"]
#: the thirteen of NAS-Bench-Suite-Zero
SUITE = [
    "epe_nas",
    "fisher",
    "flops",
    "grad_norm",
    "grasp",
    "jacov",
    "l2_norm",
    "naswot",
    "params",
    "plain",
    "snip",
    "synflow",
    "zen",
]


def passes(network, batches) -> None:
    for inputs, labels in batches:
        loss = F.cross_entropy(network(inputs), labels)
        torch.autograd.grad(loss, list(network.parameters()), allow_unused=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1, help="a search scores with 1 per worker")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    space = fs.spaces.get("nasbench201")
    network = space.build(space.parse(CELL), fs.Task()).train()
    draw = fs.data.load("synthetic")
    one = draw.batch(64, seed=0)
    two = draw.batches(2, 128, seed=0)
    there = set(fs.proxies.proxies.names())
    jobs = {
        "forward + backward, batch 64": lambda: passes(network, [(one.inputs, one.labels)]),
        "forward + backward, 2 x 128": lambda: passes(network, [(b.inputs, b.labels) for b in two]),
        "gradient family together": lambda: fs.scores(network, one, [p for p in FAMILY if p in there]),
        "gradient family and foresee": lambda: fs.scores(network, one, [*(p for p in FAMILY if p in there), "foresee"]),
        "foresee, 64 samples": lambda: fs.score(network, one, "foresee"),
        "thirteen of the suite together": lambda: fs.scores(network, one, [p for p in SUITE if p in there]),
        "foresee, 16 samples": lambda: fs.score(network, one.first(16), "foresee"),
        "foresee:2, 16 samples": lambda: fs.score(network, one.first(16), "foresee:2"),
        "dextr": lambda: fs.score(network, one.first(1), "dextr"),
        "meco": lambda: fs.score(network, one.first(1), "meco"),
        "zico, 2 x 128": lambda: fs.score(network, two, "zico"),
    }
    for name, names in (("family", FAMILY), ("suite", SUITE)):
        missing = sorted(set(names) - there)
        if missing:
            print(f"{name}: not there yet: {', '.join(missing)}")
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for repeat in range(options.repeats + 1):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            if repeat:  # the first round warms up
                seconds[name].append(time.perf_counter() - start)
    base = statistics.median(seconds["forward + backward, batch 64"])
    pair = statistics.median(seconds["forward + backward, 2 x 128"])
    targets = {
        "gradient family together": 1.4,
        "thirteen of the suite together": 7.0,
        "foresee, 16 samples": 0.5,
        "dextr": 0.25,
        "meco": 0.08,
    }
    for name, times in seconds.items():
        middle = statistics.median(times)
        target = f"  (at most {targets[name]})" if name in targets else ""
        spread = f"{min(times):.3f} to {max(times):.3f}"
        print(f"{name:32} {middle:8.3f} s  {middle / base:7.3f}{target}  {spread}")
    zico = statistics.median(seconds["zico, 2 x 128"])
    print(f"{'zico over its own two passes':32} {'':10}  {zico / pair:7.3f}  (at most 1.15)")


if __name__ == "__main__":
    main()
