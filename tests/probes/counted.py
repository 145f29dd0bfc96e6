"""A network that counts its runs."""

from __future__ import annotations

import torch
from torch import nn

#: what networks write down, by number: a place that no network holds, so that nothing is put back there
_LOGS: list[list] = []


class Counted(nn.Module):
    """Counts its runs in `log`, outside of itself."""

    def __init__(self, inner, log):
        super().__init__()
        self.inner, self.log = inner, len(_LOGS)
        _LOGS.append(log)

    def forward(self, x):
        _LOGS[self.log].append((len(x), x.dtype, torch.is_grad_enabled()))
        return self.inner(x)
