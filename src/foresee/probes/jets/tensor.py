"""A tensor that carries its first two derivatives along a curve.

A `Jet` stands for x(t) near t = 0 and holds `stack`, one tensor of shape (3, *shape): value x, velocity x' and
acceleration x''. The network sees an ordinary tensor of the value's shape; every aten operation it applies comes here
and is answered by the operation's rule. One stacked tensor instead of three makes most rules a single call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

#: a rule is called as rule(operation, *args, **kwargs) with jets among the arguments
Rule = Callable[..., Any]

_rules: dict[str, Rule] = {}
_chosen: dict[Any, Rule] = {}


class NoRule(NotImplementedError):  # noqa: N818 - says what is missing, nobody outside meets it
    """An operation has no rule; the caller takes the slow way."""


class Jet(torch.Tensor):
    """Value, velocity and acceleration of one tensor, as the tensor the network sees."""

    stack: Tensor

    @staticmethod
    def __new__(cls, stack: Tensor) -> Jet:
        """Wrap a (3, *shape) tensor. The strides are the value's, so that the network's own layout decisions hold."""
        jet: Jet = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined,unused-ignore]
            cls, stack.shape[1:], strides=stack.stride()[1:], dtype=stack.dtype, device=stack.device
        )
        jet.stack = stack
        return jet

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override,unused-ignore]
        return f"Jet(shape={tuple(self.shape)}, dtype={self.dtype})"

    __torch_function__: Any = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(  # type: ignore[override,unused-ignore]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Answer one aten operation by its rule."""
        found = _chosen.get(func) or _choose(func)
        return found(func, *args, **kwargs) if kwargs else found(func, *args)


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register the rule of some aten operations, all overloads; in-place forms follow by themselves."""

    def decorate(function: Rule) -> Rule:
        _rules.update(dict.fromkeys(names, function))
        return function

    return decorate


def only_first(*others: Any) -> None:
    """Refuse jets among `others`: the rule that asks knows the derivative in its first argument only."""
    if any(isinstance(other, Jet) for other in others):
        raise NoRule("derivative in more than the first argument")


def _choose(func: Any) -> Rule:
    """Find the rule of an operation once; later calls are one look-up."""
    namespace, name = func._schema.name.split("::")
    if namespace == "aten":
        if name in _rules:
            _chosen[func] = _rules[name]
        elif func.is_view:
            _chosen[func] = view
        elif func._schema.is_mutable:
            _chosen[func] = _in_place(func, name)
        elif func._can_decompose():  # torch itself defines it by simpler operations
            _chosen[func] = _decompose
    if func not in _chosen:
        raise NoRule(str(func))
    return _chosen[func]


def _decompose(func: Any, *args: Any, **kwargs: Any) -> Any:
    return func.decompose(*args, **kwargs)


@rule("_unsafe_view", "_reshape_alias", "unsafe_split", "unsafe_split_with_sizes")
def view(func: Any, jet: Jet, *args: Any, **kwargs: Any) -> Any:
    """A view of the jet: the value's view, repeated at the distance of the three parts; memory stays shared."""
    stack = jet.stack
    made = func(stack[0], *args, **kwargs)

    def repeat(part: Tensor) -> Jet:
        if part.dtype != stack.dtype:  # strides count elements, so another element size breaks the distance
            raise NoRule(str(func))
        return Jet(part.as_strided((3, *part.shape), (stack.stride(0), *part.stride())))

    return repeat(made) if isinstance(made, Tensor) else [repeat(part) for part in made]


def _in_place(func: Any, name: str) -> Rule:
    """`relu_` computes `relu` and writes it into the memory that the jet shares with its views."""
    packet = getattr(torch.ops.aten, name.removesuffix("_"), None) if name.endswith("_") else None
    plain = getattr(packet, func._overloadname, None)
    if plain is None or plain.is_view or plain._schema.is_mutable:
        raise NoRule(str(func))
    answer = _choose(plain)

    def write(_: Any, target: Any, *args: Any, **kwargs: Any) -> Jet:
        if not isinstance(target, Jet):  # a plain tensor has no room for derivatives
            raise NoRule(f"{func} into a tensor that does not depend on the input")
        made = answer(plain, target, *args, **kwargs)
        if isinstance(made, Jet):
            target.stack.copy_(made.stack)
        else:
            target.stack[0].copy_(made)
            target.stack[1:].zero_()
        return target

    return write
