"""What derivatives of any order need: plain kernels, no dead ends, sums that keep their digits."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from foresee.errors import UnsupportedError


def product(first: Tensor, second: Tensor) -> Tensor:
    """Sum of products in float64: (..., n) and (..., n) to (...)."""
    return (first.double() * second.double()).sum(-1)


def refuse_dead_ends(*starts: Tensor) -> None:
    """Look for functions that declare themselves differentiable once only: torch would step over them in silence."""
    seen, waiting = set(), [start.grad_fn for start in starts]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        if node.name().endswith("::Error"):
            raise UnsupportedError("a function of this network can be differentiated once only")
        seen.add(node)
        waiting += [following for following, _ in node.next_functions]


@contextmanager
def twice_differentiable() -> Iterator[None]:
    """Plain kernels where torch has fused ones without a second derivative; what still has none is unsupported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns about Intel GPUs whenever these flags are touched
        try:
            with sdpa_kernel(SDPBackend.MATH):
                yield
        except (RuntimeError, NotImplementedError) as error:
            text = str(error).splitlines()[0] if str(error) else ""
            if "not implemented" not in text and "double backward" not in text:
                raise
            raise UnsupportedError(f"a layer of this network cannot be differentiated twice ({text})") from error
