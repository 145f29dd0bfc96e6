"""What the boxes of a drawn network are called."""

from __future__ import annotations

from collections import Counter
from typing import Any

from torch import nn

from foresee.spaces.own.boxes import LETTERS

#: functions that are layers in another form, by what they are called in a picture
FUNCTIONS = {
    **{name: name for name in ("relu", "gelu", "silu", "elu", "leaky_relu", "sigmoid", "tanh", "softmax", "hardswish")},
    **{
        f"{kind}_pool{n}d": f"{kind.replace('_', ' ')} pool"
        for kind in ("max", "avg", "adaptive_avg")
        for n in (1, 2, 3)
    },
    **{f"conv{n}d": f"conv{n}d" for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": f"conv_transpose{n}d" for n in (1, 2, 3)},
    **{name: name for name in ("linear", "embedding", "interpolate", "layer_norm", "batch_norm", "group_norm", "mean")},
    "scaled_dot_product_attention": "attention",
    "pixel_shuffle": "pixel shuffle",
}
#: functions that join streams
JOINS = {
    **{"add": "+", "mul": "×", "sub": "−", "truediv": "÷", "div": "÷", "cat": "concat", "concat": "concat"},
    **{"stack": "stack", "matmul": "matmul", "bmm": "matmul", "einsum": "einsum", "where": "where", "setitem": "write"},
}
_ACTIVATIONS = frozenset(
    name.lower() for name in nn.modules.activation.__all__ if name not in ("MultiheadAttention", "Softmax")
) | {"leaky_relu"}
#: what is said of a layer whose weights are those of an earlier one
SHARED = "shared weights"
#: layers that say nothing by themselves
SILENT = (nn.Identity, nn.Flatten, nn.Unflatten)


def title_of(module: nn.Module) -> str:
    """A module in a few words.

    >>> title_of(nn.Conv2d(3, 16, 3, stride=2)), title_of(nn.Linear(4, 8)), title_of(nn.ReLU())
    ('Conv2d 3×3, 3 → 16, stride 2', 'Linear 4 → 8', 'ReLU')
    """
    kind = type(module).__name__
    return f"{kind} {said}"[:LETTERS] if (said := ", ".join(_facts(module))) else kind[:LETTERS]


def _facts(module: nn.Module) -> list[str]:
    if isinstance(module, nn.Sequential) or not type(module).__module__.startswith("torch.nn"):
        return _holds(module)
    facts = []
    kernel, stride = (_sizes(getattr(module, name, None)) for name in ("kernel_size", "stride"))
    if kernel:
        facts.append("×".join(kernel))
    for start, end in (("in_channels", "out_channels"), ("in_features", "out_features"), ("input_size", "hidden_size")):
        if isinstance(getattr(module, start, None), int) and isinstance(getattr(module, end, None), int):
            facts.append(f"{getattr(module, start)} → {getattr(module, end)}")
    if kernel and stride and set(stride) != {"1"} and not (stride == kernel and "Pool" in type(module).__name__):
        facts.append(f"stride {'×'.join(dict.fromkeys(stride))}")
    groups = getattr(module, "groups", 1)
    if isinstance(groups, int) and groups > 1:
        facts.append("depthwise" if groups == getattr(module, "in_channels", 0) else f"{groups} groups")
    heads = getattr(module, "num_heads", getattr(getattr(module, "self_attn", None), "num_heads", None))
    if isinstance(heads, int):
        facts.append(f"{heads} head{'s' if heads > 1 else ''}")
    layers = getattr(module, "num_layers", 1)
    if isinstance(layers, int) and layers > 1:
        facts.append(f"{layers} layers")
    if isinstance(module, nn.Embedding):
        facts.append(f"{module.num_embeddings} → {module.embedding_dim}")
    if isinstance(module, nn.Dropout) and module.p:
        facts.append(f"{module.p:.3g}")
    return facts


def _holds(module: nn.Module) -> list[str]:
    """What a module of the user's holds: its layers with weights, by kind."""
    inner = [
        one for one in module.modules() if one is not module and next(one.parameters(recurse=False), None) is not None
    ]
    kinds = Counter(type(one).__name__ for one in inner if not is_norm(one))
    words = " + ".join(f"{many} {kind}" if many > 1 else kind for kind, many in kinds.most_common(3))
    return [f"of {words}"] if words else []


def is_norm(module: nn.Module) -> bool:
    """Whether a layer normalises."""
    return "Norm" in type(module).__name__


def is_small(title: str, params: int) -> bool:
    """Whether a box can stand beside another one in its box: without weights, or a norm."""
    return (params == 0 and not title.endswith(SHARED)) or "norm" in title.partition(" ")[0].lower()


def is_activation(title: str) -> bool:
    """Whether a box is a nonlinearity of one number.

    >>> is_activation("ReLU"), is_activation("gelu"), is_activation("AdaptiveAvgPool2d")
    (True, True, False)
    """
    return title.partition(" ")[0].lower() in _ACTIVATIONS


def _sizes(value: Any) -> tuple[str, ...]:
    if isinstance(value, int):
        return str(value), str(value)
    return tuple(map(str, value)) if isinstance(value, tuple) and all(isinstance(one, int) for one in value) else ()
