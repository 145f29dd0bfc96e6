"""A space over your own code: call `pick` wherever you have a choice. Nothing is traced."""

import torch
from torch import nn

import foresee as fs


def make_net(pick) -> nn.Module:
    width = pick("width", [8, 16, 24])
    act = {"relu": nn.ReLU, "gelu": nn.GELU}[pick("activation", ["relu", "gelu"])]
    layers = [nn.Conv2d(3, width, 3, stride=2, padding=1)]
    for block in range(pick.integer("blocks", 1, 3)):
        kernel = pick(f"kernel{block}", [3, 5])  # asked only when the block is there
        layers += [nn.BatchNorm2d(width), act(), nn.Conv2d(width, width, kernel, padding=kernel // 2)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))


def main() -> None:
    space = fs.spaces.own(make_net)
    run = fs.search(space, "dextr", "evolution", [fs.budgets.macs < 3e6], evaluations=24, seed=0)
    print("best", run.best.architecture)
    print("logits", tuple(run.best.build()(torch.zeros(1, 3, 32, 32)).shape))


if __name__ == "__main__":
    main()
