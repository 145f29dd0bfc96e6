"""Is there room for a look? What it will hold at most, what may be held, and the refusal that names both.

The unit is what one forward run of some samples stores for a backward run: it is known before anything runs, from a run
without numbers. How many times that much a look holds is measured once and declared (`Needs.held`).
"""

from __future__ import annotations

import math
from contextlib import suppress

import torch
from torch import nn

from foresee.devices import free_bytes
from foresee.errors import UnsupportedError
from foresee.probes.kernel.plan import survey
from foresee.probes.splitting import gradient_bytes, predicted_bytes
from foresee.probes.subject import Subject
from foresee.quantities import format_bytes, parse_bytes

#: share of the free memory that a look may take where nobody says how much
SHARE = 0.5
#: a network that works in more positions than its input has (upsampling) may store so many times as much as counted at once
_MARGIN = 4


class NoRoomError(MemoryError):
    """A look was not begun: it would hold more than it may."""


def bytes_allowed(memory: str | float | None, device: torch.device) -> float:
    """What may be held: as said ("8GiB", a number of bytes), or half of what is free on the device."""
    if memory is None:
        return SHARE * free_bytes(device)
    return parse_bytes(memory)


def refuse(needed: float, allowed: float) -> None:
    """Raise where that much is not there."""
    if needed > allowed:
        raise NoRoomError(
            f"would need about {format_bytes(needed)}, more than {format_bytes(allowed)}: take a smaller batch, or allow it "
            f'(memory="{format_bytes(needed, digits=2)}")'
        )


def stored_by(probe: Subject, samples: int) -> float:
    """Bytes that a forward run of so many samples stores for a backward run, and the gradients; parameters left out.

    Of a run without numbers; for a network that needs numbers to run, of two samples. Where neither can be seen, 0: what is
    not known is not refused.
    """

    def count() -> float:
        try:
            return predicted_bytes(probe.network, probe.data[0].first(samples))
        except Exception:  # whatever a stranger's network raises without numbers
            stored = 0.0
            with suppress(UnsupportedError):
                stored = survey(probe).graph * samples
        return stored + gradient_bytes(probe.network)

    return probe.remember(("memory.stored", samples), count)


def stored_at_most(probe: Subject, samples: int) -> float:
    """A bound of `stored_by` that takes no run: every weight writes its rows at every position of the input.

    Far above it for most networks. Where even this is little, nobody has to look closer.
    """
    parts = probe.data[0].parts
    rows = sum(p.shape[0] if p.ndim else 1 for p in probe.network.parameters()) + len(parts)
    # An image has as many positions as numbers in one channel, wherever the channels stand; a flat sample may be folded.
    positions = [math.prod(part.shape[1:]) // max(1, min(part.shape[1:]) if part.ndim > 2 else 1) for part in parts]
    # Attention is between all pairs of a sequence, and a head is seldom narrower than 16.
    lengths = [part.shape[1] if part.ndim in (2, 3) else 0 for part in parts]
    pairs = rows / 16 * max(lengths) ** 2 if _attends(probe.network) else 0.0
    return _MARGIN * samples * probe.dtype.itemsize * (rows * sum(positions) + pairs) + 8 * rows


def _attends(network: nn.Module) -> bool:
    return any("attention" in type(module).__name__.lower() for module in network.modules())
