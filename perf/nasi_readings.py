"""Which reading of NASI's Table 3 gives its signs: SNIP -0.62, SynFlow -0.45, NASI (conditioned) +0.74 on space 2 of 1Shot1.

The paper does not say which networks, which batch norm and which first weights it measured, nor how its constraint nu was
chosen. So all of them are tried: the cells' own networks or the paths of the one-shot network in its two forms, with batch
norm or without (which at first is what evaluation mode computes), under three ways to draw weights. NASI's metric is
conditioned at every threshold that leaves a tenth of the cells or more, and at the mean of the first 50 (Eq. 40); the best
of all thresholds is what the most fortunate choice of nu could have given. Another reading of "under the constraint in (8)"
is the objective that the constraint becomes: R = s - mu max(0, s - nu) over all cells, with mu = 2. SynFlow is taken
without batch norm, as its authors and Abdelfattah et al. do, and with it.

    python perf/nasi_readings.py --table nb1shot1.csv.gz --data cifar10.npz --sample 200 --device cuda
"""

from __future__ import annotations

import argparse
import copy
import itertools
import json
from pathlib import Path

import numpy as np
import torch
from scipy.stats import spearmanr
from torch import nn

import foresee as fs
from foresee.benchmarks.formats import load
from foresee.data import load as load_data
from foresee.spaces import get

METRICS = ("snip", "grasp", "synflow", "naswot", "nasi")
KEPT = "synflow, norms kept"
NETWORKS = ("the cell's own", "path, corrected", "path, published")
NORMS = ("batch norm", "none")
WEIGHTS = ("default", "xavier", "he")


def without_norms(network: nn.Module) -> nn.Module:
    """Batch norms replaced by nothing: what they are in evaluation mode before any training, but for 1e-5."""
    for parent in list(network.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.BatchNorm2d):
                setattr(parent, name, nn.Identity())
    return network


def networks(space, cells, kind: str, task: fs.Task, norm: str):
    """Every cell's network, of one kind; the same first weights for all, as far as they have the same layers."""
    if kind.startswith("path"):
        torch.manual_seed(0)
        one_shot = space.one_shot(task, variant=kind.rpartition(" ")[2])
    for cell in cells:
        torch.manual_seed(0)
        # weights of its own, so that nothing is shared
        made = copy.deepcopy(one_shot.inherit(cell)) if kind.startswith("path") else space.build(cell, task)
        yield without_norms(made) if norm == "none" else made


def synflow_with_norms(network: nn.Module, task: fs.Task, device: str) -> float:
    """SynFlow where nobody took the batch norms out: absolute weights, one sample of ones, statistics of that sample."""
    made = copy.deepcopy(network).double().to(device).train()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.abs_()
    total = made(torch.ones(1, *task.inputs, dtype=torch.float64, device=device)).sum()
    weights = [one.weight for one in made.modules() if isinstance(one, nn.Conv2d | nn.Linear)]
    slopes = torch.autograd.grad(total, weights, allow_unused=True)
    return sum(float((w * g).detach().abs().sum()) for w, g in zip(weights, slopes, strict=True) if g is not None)


def conditioned(trace: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Rank correlation below the mean of the first 50, and below the threshold that makes it greatest and least."""
    known = np.isfinite(trace)
    trace, truth = trace[known], truth[known]
    nu = trace[:50].mean()
    by_nu = {
        count: float(spearmanr(trace[below], truth[below])[0])
        for count in range(max(10, len(trace) // 10), len(trace) + 1, max(1, len(trace) // 50))
        for below in [np.argsort(trace)[:count]]
    }
    best, worst = max(by_nu, key=by_nu.__getitem__), min(by_nu, key=by_nu.__getitem__)
    below = trace < nu
    penalised = trace - 2 * np.maximum(0, trace - nu)
    strict = trace - 2 * np.maximum(0, trace - np.quantile(trace, 0.1))
    return {
        "as R": float(spearmanr(penalised, truth)[0]),
        "as R, nu a tenth": float(spearmanr(strict, truth)[0]),
        "mean of 50": float(spearmanr(trace[below], truth[below])[0]) if below.sum() > 9 else float("nan"),
        "best nu": by_nu[best],
        "best nu leaves": best,
        "worst nu": by_nu[worst],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--channels", type=int, default=16)
    parser.add_argument("--network", action="append", choices=NETWORKS, help="all of them")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    table = load(options.table)
    target = next(one.name for one in table.targets() if one.metric == "test_acc")
    places = np.random.default_rng(0).permutation(len(table.architectures))[: options.sample]
    space = get(table.space, **{**table.space_settings, "channels": options.channels, "loose_ends": "trimmed"})
    cells = [space.parse(table.architectures[place]) for place in places]
    truth = table.values(target)[places]
    data = load_data(options.data)
    batch = data.batch(options.batch, seed=0)
    print(
        f"{table.space}: {len(cells)} of {len(table.architectures)} cells, {target}, batch {options.batch}, {options.device}"
    )
    rows = []
    for kind, norm, weights in itertools.product(options.network or NETWORKS, NORMS, WEIGHTS):
        found = {name: [] for name in (*METRICS, KEPT)}
        for network in networks(space, cells, kind, data.task, norm):
            scores = fs.scores(network, batch, METRICS, seed=0, initialise=weights, device=options.device)
            for name in METRICS:
                value = scores[name].value
                found[name].append(np.nan if value is None else value)
            found[KEPT].append(synflow_with_norms(network, data.task, options.device))
        ranks = {}
        for name in found:
            values = np.array(found[name], np.float64)
            known = np.isfinite(values)
            ranks[name] = float(spearmanr(values[known], truth[known])[0]) if known.sum() > 9 else float("nan")
        row = {"network": kind, "norm": norm, "weights": weights, **ranks}
        row |= {f"nasi, {key}": value for key, value in conditioned(np.array(found["nasi"]), truth).items()}
        rows.append(row)
        print(
            json.dumps({key: round(value, 3) if isinstance(value, float) else value for key, value in row.items()}),
            flush=True,
        )
        if options.out:
            options.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
