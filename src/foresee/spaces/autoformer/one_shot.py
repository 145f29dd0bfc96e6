"""The weight-slicing supernet of AutoFormer.

Choices: `embed` and `depth` for the whole network, `i.mlp` and `i.heads` for layer i (from 0). A path slices: its output is
that of the inherited network, and so is its cost. In a mixture

- widths (`embed`), heads and hidden layers are weighted sums of 0/1 masks on the first features (see `prefix`); the mask
  of a hidden layer runs over all pairs of a width and a ratio, weighted by the product of both weights;
- `depth` gates: what a layer adds is multiplied by the summed weight of the depths that reach it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import Tensor

from foresee.errors import InputError
from foresee.spaces.autoformer.architecture import Architecture
from foresee.spaces.autoformer.network import Form, Network
from foresee.spaces.autoformer.prefix import PrefixNetwork, Use
from foresee.spaces.counting import on_meta
from foresee.spaces.one_shot import Choice, OneShot, one_hot, share_corners
from foresee.spaces.sliced import Sizes
from foresee.spaces.weighing import Weights
from foresee.task import Task


class AutoFormerOneShot(OneShot[Architecture]):
    """The supernet; call it like a network.

    Args:
        options: values of `embed`, `depth`, `mlp` and `heads` to choose from.
        task: images.
        form: what all networks have in common.
        embed: width of the weights that are kept; at least the greatest to choose (published ones are wider).
    """

    def __init__(self, options: Mapping[str, Sequence[float]], task: Task, form: Form, *, embed: int) -> None:
        self.options = {name: tuple(sorted(values)) for name, values in options.items()}
        most = {name: values[-1] for name, values in self.options.items()}
        if embed < most["embed"]:
            raise InputError(f"embed {embed}: the supernet must be at least as wide as {most['embed']}")
        depth = int(most["depth"])
        texts = {name: tuple(map(str, values)) for name, values in self.options.items()}
        layers = [Choice(f"{layer}.{name}", texts[name]) for layer in range(depth) for name in ("mlp", "heads")]
        super().__init__([Choice("embed", texts["embed"]), Choice("depth", texts["depth"]), *layers])
        self.task, self.form = task, form
        self.greatest = Architecture(embed, (most["mlp"],) * depth, (int(most["heads"]),) * depth)
        self.network = PrefixNetwork(self.greatest, task, form)

    # -- evaluation ---------------------------------------------------------------------------------------------------
    def stages(self, x: Tensor) -> list[Tensor]:
        """Tokens after each attention and after each hidden layer in use."""
        embed = self._sizes("embed", x)
        return self.network.halves(x, embed, self._uses(embed, x))[1:]

    def pre_gap(self, x: Tensor) -> Tensor:
        """The patches' tokens before their mean is taken, as a map."""
        return self.network.as_map(self._last(x))

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, H, W) to logits (B, outputs), by the present weights."""
        logits: Tensor = self.network.head(self._last(x).mean(1), self.task.outputs)
        return logits

    def _last(self, x: Tensor) -> Tensor:
        embed = self._sizes("embed", x)
        return self.network.mixed(x, embed, self._uses(embed, x))

    def _uses(self, embed: Sizes, x: Tensor) -> list[Use]:
        """What is used of each layer that a depth to compute reaches."""
        depths = self._sizes("depth", x)
        uses = []
        for layer in range(max(depth for depth, _ in depths)):
            reaching = [weight for depth, weight in depths if depth > layer]
            hidden = [
                (int(width * ratio), one * two)
                for width, one in embed
                for ratio, two in self._present(f"{layer}.mlp", x)
            ]
            uses.append(Use(embed, self._sizes(f"{layer}.heads", x), hidden, sum(reaching[1:], reaching[0])))
        return uses

    def _present(self, choice: str, x: Tensor) -> list[tuple[float, Tensor]]:
        """Options to compute; where there is none, the first with its zero."""
        values, weights = self.options[choice.rpartition(".")[2]], self.live(choice)
        pairs = [(value, weight.to(x)) for value, weight in zip(values, weights, strict=True) if weight is not None]
        return pairs or [(values[0], self.weight(choice)[0].to(x))]

    def _sizes(self, choice: str, x: Tensor) -> Sizes:
        return [(int(value), weight) for value, weight in self._present(choice, x)]

    # -- weights and architectures ------------------------------------------------------------------------------------
    def path(self, architecture: Architecture) -> dict[str, Tensor]:
        """One-hot weights; zeros for the layers beyond the depth."""
        weights = {choice.name: one_hot(0, len(choice.options)) * 0.0 for choice in self.choices}
        values = {"embed": architecture.embed, "depth": architecture.depth}
        for layer, (ratio, heads) in enumerate(zip(architecture.mlp, architecture.heads, strict=True)):
            values |= {f"{layer}.mlp": ratio, f"{layer}.heads": heads}  # type: ignore[dict-item]
        for name, value in values.items():
            options = self.options[name.rpartition(".")[2]]
            if value not in options:
                raise InputError(f"{architecture} lies outside the space: {name} {value}, expected one of {options}")
            weights[name] = one_hot(options.index(value), len(options))
        return weights

    def derive(self, weights: Weights) -> Architecture:
        """The greatest weight of each choice; layers beyond the depth are left out."""
        best = {
            choice.name: self.options[choice.name.rpartition(".")[2]][int(weights[choice.name].detach().argmax())]
            for choice in self.choices
        }
        layers = range(int(best["depth"]))
        return Architecture(
            int(best["embed"]),
            tuple(best[f"{layer}.mlp"] for layer in layers),
            tuple(int(best[f"{layer}.heads"]) for layer in layers),
        )

    def inherit(self, architecture: Architecture) -> Network:
        """The stand-alone network; its weights are upper left corners of the supernet's.

        Sizes that are not among the choices are fine as long as the supernet is large enough for them.
        """
        most = self.greatest
        for what, size, limit in (
            ("depth", architecture.depth, most.depth),
            ("width", architecture.embed, most.embed),
            ("heads", max(architecture.heads), most.heads[0]),
            ("hidden layer", max(architecture.hidden), most.hidden[0]),
        ):
            if size > limit:
                raise InputError(f"{architecture}: {what} {size}, the supernet has {limit}")
        alone = on_meta(lambda: Network(architecture, self.task, self.form))
        share_corners(alone, self.network)
        return alone.train(self.training)
