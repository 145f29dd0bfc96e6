"""What an attack may ask for: a network's outputs and their gradients at images, each counted; and random numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from foresee.errors import UnsupportedError
from foresee.probes.outputs import check_rows, logits_of
from foresee.seeds import generator


@dataclass
class Ledger:
    """What was spent on each of all samples, and which part of an attack succeeded: shared by all who attack together."""

    queries: Tensor
    gradients: Tensor
    by: list[str]

    @classmethod
    def of(cls, samples: int) -> Ledger:
        """Nothing spent yet."""
        return cls(torch.zeros(samples, dtype=torch.int64), torch.zeros(samples, dtype=torch.int64), [""] * samples)

    def forget(self, rows: Tensor) -> None:
        """These samples begin again."""
        self.queries[rows] = self.gradients[rows] = 0
        for row in rows.tolist():
            self.by[row] = ""


@dataclass(frozen=True, eq=False)
class Victim:
    """A network under attack at some samples.

    Args:
        network: in evaluation mode, its parameters without gradients; its inputs are pixels from 0 to 1.
        images: the clean ones, float32 of shape (n, ...), where the network is.
        labels: the true classes, (n,).
        rows: which samples of all these are, (n,) on the CPU: random numbers belong to a sample, not to its place in a batch.
        seed: of all random numbers.
        ledger: what is spent.
    """

    network: nn.Module
    images: Tensor
    labels: Tensor
    rows: Tensor
    seed: int
    ledger: Ledger

    def __len__(self) -> int:
        return len(self.images)

    def part(self, which: Tensor) -> Victim:
        """The same network at some of the samples: a mask or places."""
        rows = self.rows[which.cpu()]
        return Victim(self.network, self.images[which], self.labels[which], rows, self.seed, self.ledger)

    def logits(self, images: Tensor) -> Tensor:
        """Outputs (n, classes) at images; one query for each sample."""
        with torch.no_grad():
            found = answers(self.network, images)
        self.ledger.queries[self.rows] += 1
        return found

    def fooled(self, logits: Tensor) -> Tensor:
        """Whether the largest output is another one than the label's, (n,)."""
        return logits.argmax(1) != self.labels

    def gradient(self, images: Tensor, loss: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """The gradient of `loss(logits)`, one number per sample, with respect to the images; those numbers; the logits.

        One query and one gradient for each sample. Where outputs do not depend on inputs in a way that torch can follow, the
        gradient is zero; what is no number in it is zero too: so it looks to an attacker.
        """
        inputs = images.detach().clone().requires_grad_()
        with torch.enable_grad():
            logits = answers(self.network, inputs)
            values = loss(logits)
            slope = torch.autograd.grad(values.sum(), inputs, allow_unused=True)[0] if values.requires_grad else None
        self.ledger.queries[self.rows] += 1
        self.ledger.gradients[self.rows] += 1
        slope = torch.zeros_like(images) if slope is None else slope.nan_to_num(0.0, 0.0, 0.0)
        return slope, values.detach(), logits.detach()

    def inside(self, images: Tensor, eps: float) -> Tensor:
        """The nearest images that differ from the clean ones by at most `eps` in every pixel and lie in [0, 1]."""
        return images.clamp((self.images - eps).clamp(min=0), (self.images + eps).clamp(max=1))

    def uniform(self, shape: tuple[int, ...], *use: int | str) -> Tensor:
        """Numbers from 0 to 1 of shape (n, *shape), each sample's its own whatever batch it is in."""
        drawn = [torch.rand(shape, generator=generator(self.seed, *use, row)) for row in self.rows.tolist()]
        return torch.stack(drawn).to(self.images.device)


def answers(network: nn.Module, images: Tensor) -> Tensor:
    """The logits of a classifier, in float32 or float64; the images are handed over in the type of its weights.

    >>> answers(nn.Flatten(), torch.ones(2, 1, 1, 3)).shape
    torch.Size([2, 3])
    """
    kind = next((one.dtype for one in network.parameters() if one.is_floating_point()), images.dtype)
    logits = logits_of(network(images.to(kind)))
    check_rows(logits, len(images))
    if logits.ndim != 2 or logits.shape[1] < 2:
        shape = tuple(logits.shape)
        raise UnsupportedError(f"outputs of shape {shape}: an attack needs a classifier, (samples, classes)")
    return logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits


def spread(values: Tensor, like: Tensor) -> Tensor:
    """One number per sample, (n,), with as many axes as images, (n, 1, ...).

    >>> spread(torch.ones(2), torch.zeros(2, 3, 8, 8)).shape
    torch.Size([2, 1, 1, 1])
    """
    return values.view(-1, *(1,) * (like.ndim - 1))
