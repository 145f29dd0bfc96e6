"""What a network is, where it stands among others, and where it could be better; nothing is trained.

Run it: python examples/explain_a_network.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from torch import nn

import foresee as fs

folder = Path(tempfile.mkdtemp())

# An architecture of a space, beside eight random ones; the page has pictures of all this.
found = fs.explain(("nasbench201", "ResNet"), samples=8, proxies=["foresee", "synflow", "params"])
print(found)
print("page:", found.save(folder / "resnet.html").name)

# Any module of your own: without a space there is nothing to stand among, unless one is named (among="nasbench201").
torch.manual_seed(0)
mine = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1),
    nn.ReLU(),
    nn.Conv2d(16, 2, 1),  # a neck of two channels: what comes after it has little to read
    nn.ReLU(),
    nn.Conv2d(2, 32, 3, padding=1),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(4),
    nn.Flatten(),
    nn.Linear(512, 10),
)
batch = (torch.randn(16, 3, 16, 16), torch.arange(16) % 10)
own = fs.explain(mine, batch, name="mine", proxies=["foresee", "params"])
for layer in own.layers.worst():
    print(f"look at {layer.name}: it reads {layer.reads:.2f} and is told {layer.told:.2f}")
