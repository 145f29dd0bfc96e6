"""Where tensors live and how many threads compute: said once, for every room."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from foresee.errors import InputError


def usable(device: torch.device | str) -> torch.device:
    """The device, if tensors can be made on it here; otherwise an error that says why."""
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"device {str(device)!r} cannot be used here: {str(error).splitlines()[0]}") from error


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many torch threads inside: sums are rounded the same way whatever engine runs them.

    >>> with threads(1):
    ...     torch.get_num_threads()
    1
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
