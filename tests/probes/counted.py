"""A network that counts its runs."""

from __future__ import annotations

import torch
from torch import nn


class Counted(nn.Module):
    """Counts its runs outside of itself, where nothing is put back."""

    def __init__(self, inner, log):
        super().__init__()
        self.inner = inner
        self.log = lambda: log

    def forward(self, x):
        self.log().append((len(x), x.dtype, torch.is_grad_enabled()))
        return self.inner(x)
