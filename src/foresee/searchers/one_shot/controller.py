"""ENAS' controller: an LSTM that decides one thing after the other, and knows how likely it was to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from foresee.searchers.supernet import Decision


@dataclass(frozen=True)
class Policy:
    """What was decided, for each decision the places of the options that stay; with the logarithm of how likely that was,
    and the entropy of the distributions it was drawn from.
    """

    picks: tuple[tuple[int, ...], ...]
    log_probability: Tensor
    entropy: Tensor


class Controller(nn.Module):
    """An LSTM over the decisions of a space. It hears what it decided before; where several stay, they are drawn in turn.

    Logits are `bound` * tanh(logits / `temperature`). Weights begin uniform in -0.1 to 0.1.

    Args:
        decisions: in their order.
        hidden: units.
        temperature: of the logits.
        bound: of the logits; 0: none.
        generator: draws the weights.
    """

    def __init__(
        self,
        decisions: Sequence[Decision],
        *,
        hidden: int,
        temperature: float,
        bound: float,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.decisions, self.temperature, self.bound = tuple(decisions), temperature, bound
        with torch.device("meta"):  # so that no global random number is drawn
            self.first = nn.Parameter(torch.empty(hidden))
            self.cell = nn.LSTMCell(hidden, hidden)
            self.heard = nn.ModuleList(nn.Embedding(len(one.options), hidden) for one in decisions)
            self.heads = nn.ModuleList(nn.Linear(hidden, len(one.options)) for one in decisions)
        self.to_empty(device="cpu")
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.uniform_(-0.1, 0.1, generator=generator)

    def forward(self, generator: torch.Generator) -> Policy:
        """Decide everything."""
        heard = self.first
        state = torch.zeros_like(heard), torch.zeros_like(heard)
        picks, logs, entropies = [], [], []
        for decision, words, head in zip(self.decisions, self.heard, self.heads, strict=True):
            state = self.cell(heard, state)
            logits = head(state[0]) / self.temperature
            if self.bound:
                logits = self.bound * torch.tanh(logits)
            kept: list[int] = []
            for _ in range(decision.keep):
                taken = torch.zeros_like(logits, dtype=torch.bool)
                taken[kept] = True
                logs_now = torch.log_softmax(logits.masked_fill(taken, -torch.inf), 0)
                likely = logs_now.exp()
                pick = int(torch.multinomial(likely.detach(), 1, generator=generator))
                logs.append(logs_now[pick])
                entropies.append(-(likely * logs_now.masked_fill(taken, 0.0)).sum())
                kept.append(pick)
            picks.append(tuple(kept))
            heard = words(torch.tensor(kept)).mean(0)
        return Policy(tuple(picks), torch.stack(logs).sum(), torch.stack(entropies).sum())
