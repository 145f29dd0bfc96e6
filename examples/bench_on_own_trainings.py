"""Is a proxy any good on my own task? Train a few networks, write what they reached into a table, and look.

Twenty small perceptrons learn the embedded digits for a moment. Their accuracies are a table like any benchmark's: `bench`
tells how well proxies at initialisation foresee them (with intervals, beside params, MACs and random), and `calibrate_table`
uses the trainings to foresee architectures that were not trained.
"""

import csv
import random

import torch
from torch.nn import functional as F

import foresee as fs
from foresee.benchmarks import bench, calibrate_table, load

SETTINGS = {"widths": (2, 4, 8, 16, 32), "depths": (1, 2, 3)}
TASK = fs.Task((1, 8, 8), 10)


def accuracy(network: torch.nn.Module) -> float:
    """Train for 60 steps, and count what is right on images that were not seen."""
    data, unseen = fs.data.load("digits", task=TASK, split="train"), fs.data.load("digits", task=TASK, split="test")
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    for step in range(60):
        batch = data.batch(64, seed=step)
        optimiser.zero_grad()
        F.cross_entropy(network(batch.inputs), batch.labels).backward()
        optimiser.step()
    test = unseen.batch(360, seed=0)
    with torch.no_grad():
        return float((network(test.inputs).argmax(1) == test.labels).float().mean())


def main() -> None:
    space, rng = fs.spaces.get("mlp", **SETTINGS), random.Random(0)
    cells = list(dict.fromkeys(str(space.sample(rng)) for _ in range(60)))[:20]
    with open("mine.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["architecture", "task", "metric", "value"])
        for number, cell in enumerate(cells):
            torch.manual_seed(number)
            writer.writerow([cell, "digits", "test_acc", accuracy(space.build(space.parse(cell), TASK))])

    table = load("mine.csv", space="mlp")
    found = bench(
        table, "test_acc_digits", ["foresee", "naswot"], space_settings=SETTINGS, inputs=TASK.inputs, outputs=10
    )
    for name, correlations in found.correlations.items():
        print(f"{name:8} Spearman {correlations.spearman}")

    names = ["params", "naswot"]
    more = calibrate_table(table, "test_acc_digits", proxies=names, space_settings=SETTINGS, task=TASK, sample=5)
    for row in more.rows():
        print(
            f"{row['architecture']:16} {row['predicted']:.2f} in {row['low']:.2f} to {row['high']:.2f}, never trained"
        )


if __name__ == "__main__":
    main()
