"""A space over your own code: call `pick` wherever you have a choice. Nothing is traced.

`foresee space examples/own_space.py:make_net` shows what can be chosen, `foresee search` with the same name searches it.
"""

import torch
from torch import nn

import foresee as fs


def make_net(pick) -> nn.Module:
    width = pick.int("width", 8, 24, step=8)
    groups = pick("groups", [1, 2, 3])
    if width % groups:
        pick.reject("groups must divide the width")  # another one is drawn; it counts as no candidate
    act = {"relu": nn.ReLU, "gelu": nn.GELU}[pick("activation", ["relu", "gelu"])]
    layers = [nn.Conv2d(3, width, 3, stride=2, padding=1)]
    for number in range(pick.int("blocks", 1, 3)):
        kernel = pick.sub(f"block{number}")("kernel", [3, 5])  # asked only when the block is there: block0.kernel, ...
        conv = nn.Conv2d(width, width, kernel, padding=kernel // 2, groups=groups)
        layers += [nn.BatchNorm2d(width), act(), conv]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))


def main() -> None:
    # with out="runs/mine" the run is kept, also of a function in a notebook cell, and resume=True goes on with it
    run = fs.search(make_net, "dextr", "evolution", [fs.budgets.macs < 3e6], evaluations=24, seed=0)
    print("best", run.best.architecture)
    print("logits", tuple(run.best.build()(torch.zeros(1, 3, 32, 32)).shape))


if __name__ == "__main__":
    main()
