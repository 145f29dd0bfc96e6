"""Curves through a network: their Taylor coefficients at one point, and their curvature.

For a curve x(t) the network's output y(t) = f(x(t)) has a velocity y' and an acceleration y''. The fast way carries both
forward beside the value (`Jet`), at about three forward passes for any number of outputs. Where an operation has no rule,
autograd differentiates twice through t, output by output: slow, but right for everything that autograd knows. (Nesting
`torch.func.jvp` is no alternative: its second derivatives of batch norm, layer norm and softmax come out wrong.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from foresee.batch import Inputs
from foresee.errors import InputError, UnsupportedError
from foresee.probes.jets import norms, products, rules  # noqa: F401 - they register themselves
from foresee.probes.jets.tensor import Jet
from foresee.probes.outputs import logits_of

Method = Literal["auto", "jets", "double_backward"]
Select = Callable[[Any], Tensor]
#: one derivative of the inputs: like them, with None for a part that does not move
Direction = Tensor | Sequence[Tensor | None]
Taylor = tuple[Tensor, Tensor, Tensor]


def taylor(
    network: nn.Module,
    point: Inputs,
    velocity: Direction,
    acceleration: Direction,
    *,
    select: Select = logits_of,
    method: Method = "auto",
) -> Taylor:
    """f(x), d f(x(t))/dt and d^2 f(x(t))/dt^2 at t = 0 for the curve with x(0) = point, x' = velocity, x'' = acceleration.

    Args:
        network: any module; it is left as found (buffers, flags, random state), also when it raises.
        point: what the network is called with, batch axis first: a tensor, or a tuple of tensors.
        velocity: first derivative of each part; None (or anything, for a part of whole numbers) means it does not move.
        acceleration: second derivative of each part, likewise.
        select: picks the tensor to differentiate from what the network returns.
        method: `jets` forward, `double_backward` by autograd, or `auto`: jets, and autograd where they do not apply.

    Returns:
        Three tensors of the output's shape.

    Raises:
        UnsupportedError: neither way can differentiate the network twice.

    Both ways see the function the network computes; only a module that changes derivatives by hand (a custom
    `autograd.Function`, `no_grad` inside `forward`) can make them differ.

    >>> x, one, zero = torch.tensor([[2.0]]), torch.ones(1, 1), torch.zeros(1, 1)
    >>> taylor(nn.Sequential(nn.Identity(), nn.Softplus()), x, one, zero)
    (tensor([[2.1269]]), tensor([[0.8808]]), tensor([[0.1050]]))
    """
    if method not in get_args(Method):
        raise InputError(f"method {method!r}: expected one of {', '.join(get_args(Method))}")
    curve = _curve(point, velocity, acceleration)

    def go(way: Callable[[nn.Module, _Curve, Select], Taylor]) -> Taylor:
        with _as_found(network, curve):
            return way(network, curve, select)

    if method == "double_backward":
        return go(_double_backward)
    try:
        return go(_jets)
    except (torch.OutOfMemoryError, UnsupportedError):
        raise
    except Exception as error:  # an operation without a rule, or a module that wants a plain tensor's memory
        if method == "jets":
            raise UnsupportedError(f"the forward way does not apply: {_short(error)}") from error
        reason = _short(error)
    try:
        return go(_double_backward)
    except UnsupportedError as error:
        raise UnsupportedError(f"{error}; nor forward: {reason}") from error


def curvature(velocity: Tensor, acceleration: Tensor) -> Tensor:
    """Extrinsic curvature (v.v)^(-3/2) sqrt((v.v)(a.a) - (v.a)^2) of a curve, over the last axis, in float64.

    The root equals |v| times the part of a that is perpendicular to v, which cannot turn negative by rounding. Where the
    velocity is zero there is no curvature: NaN.

    >>> round(float(curvature(torch.tensor([0.0, 2.0]), torch.tensor([-2.0, 7.0]))), 6)  # circle of radius 2, speed 2
    0.5
    """
    v, a = velocity.double(), acceleration.double()
    speed = torch.linalg.vector_norm(v, dim=-1, keepdim=True)
    tangent = v / speed
    across = a - (tangent * a).sum(-1, keepdim=True) * tangent
    kappa: Tensor = torch.linalg.vector_norm(across / speed / speed, dim=-1)
    return kappa


# ---- the two ways ------------------------------------------------------------------------------------------

_Curve = list[tuple[Tensor, Tensor | None, Tensor | None]]


def _jets(network: nn.Module, curve: _Curve, select: Select) -> Taylor:
    """One forward pass on jets."""
    with torch.no_grad():
        inputs = [
            point if velocity is None or acceleration is None else Jet(torch.stack((point, velocity, acceleration)))
            for point, velocity, acceleration in curve
        ]
        output = select(network(*inputs))
        if isinstance(output, Jet):
            value, velocity, acceleration = output.stack.unbind()
            return value, velocity, acceleration
        return output.clone(), torch.zeros_like(output), torch.zeros_like(output)


def _double_backward(network: nn.Module, curve: _Curve, select: Select) -> Taylor:
    """Autograd through t, twice for each output."""
    with torch.enable_grad():
        like = next((point for point, velocity, _ in curve if velocity is not None), torch.zeros(()))
        t = torch.zeros((), dtype=like.dtype, device=like.device, requires_grad=True)
        inputs = [
            point if velocity is None or acceleration is None else point + t * velocity + t * t / 2 * acceleration
            for point, velocity, acceleration in curve
        ]
        output = select(network(*inputs))
        first, second = torch.zeros_like(output).flatten(), torch.zeros_like(output).flatten()
        try:
            for k, y in enumerate(output.flatten()):
                y1 = _derivative(y, t, create_graph=True)
                y2 = _derivative(y1, t)
                first[k], second[k] = y1.detach(), y2
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            raise UnsupportedError(f"the network cannot be differentiated twice: {_short(error)}") from error
    return output.detach().clone(), first.view_as(output), second.view_as(output)


def _derivative(y: Tensor, t: Tensor, create_graph: bool = False) -> Tensor:
    if not y.requires_grad:
        return torch.zeros_like(t)
    (slope,) = torch.autograd.grad(y, t, create_graph=create_graph, retain_graph=True, allow_unused=True)
    return torch.zeros_like(t) if slope is None else slope


# ---- doors in and out --------------------------------------------------------------------------------------


def _curve(point: Inputs, velocity: Direction, acceleration: Direction) -> _Curve:
    """The three, part by part and checked; a part that is not floating does not move."""
    parts = [[given] if isinstance(given, Tensor) else list(given) for given in (point, velocity, acceleration)]
    if len({len(part) for part in parts}) != 1:
        raise InputError(f"curve: {len(parts[0])} inputs, {len(parts[1])} velocities, {len(parts[2])} accelerations")
    curve: _Curve = []
    for p, v, a in zip(*parts, strict=True):
        assert p is not None
        if not p.is_floating_point() or (v is None and a is None):
            curve.append((p.detach().clone(), None, None))  # the network may write into it
            continue
        v, a = (torch.zeros_like(p) if part is None else part.detach().to(p) for part in (v, a))
        if not p.shape == v.shape == a.shape:
            raise InputError(f"curve: point {tuple(p.shape)}, velocity {tuple(v.shape)}, acceleration {tuple(a.shape)}")
        curve.append((p.detach(), v, a))
    return curve


@contextmanager
def _as_found(network: nn.Module, curve: _Curve) -> Iterator[None]:
    """Hand the network copies of its buffers and of the random state, and attention that can be differentiated."""
    fast = torch.backends.mha.get_fastpath_enabled()
    held, scripted = [], []
    for module in network.modules():
        if isinstance(module, torch.jit.ScriptModule):
            scripted += [(buffer, buffer.clone()) for buffer in module.buffers(recurse=False)]
        elif module._buffers:
            held.append((module._buffers, dict(module._buffers)))
    copies: dict[int, Tensor] = {}  # a buffer that two modules share stays shared
    with ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng({p.device.index or 0 for p, _, _ in curve if p.is_cuda}))
        stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        try:
            torch.backends.mha.set_fastpath_enabled(False)
            for buffers, original in held:
                for name, buffer in original.items():
                    if buffer is not None:
                        buffers[name] = copies.setdefault(id(buffer), buffer.clone())
            yield
        finally:
            torch.backends.mha.set_fastpath_enabled(fast)
            for buffers, original in held:
                buffers.clear()
                buffers.update(original)
            for live, kept in scripted:  # a scripted module's buffers cannot be exchanged
                live.detach().copy_(kept)


def _short(error: BaseException) -> str:
    """Type and first line of an error."""
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(": ")
