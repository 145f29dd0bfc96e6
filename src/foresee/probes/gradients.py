"""Looks at both ends of a network: its outputs and loss, and their gradients by the parameters and the inputs."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from foresee.errors import UnsupportedError
from foresee.probes.looks import Forward, Watcher
from foresee.probes.subject import refuse_complex


class Outputs(Watcher[Tensor]):
    """The outputs (logits) of the network."""

    name = "outputs"

    def result(self, forward: Forward, gradients: Sequence[Tensor | None]) -> Tensor:
        """As they came."""
        return self.kept(forward.outputs)


class LossValue(Watcher[Tensor]):
    """The loss of the batch."""

    name = "loss"
    root = "loss"

    def result(self, forward: Forward, gradients: Sequence[Tensor | None]) -> Tensor:
        """One number."""
        assert forward.loss is not None
        return self.kept(forward.loss)


class Gradients(Watcher[dict[str, Tensor]]):
    """Gradients of the loss by each trainable parameter that has an influence on it, by name."""

    name = "gradients"
    root = "loss"

    def targets(self, forward: Forward) -> Sequence[Tensor]:
        """Every parameter that was found trainable."""
        return list(forward.trained.values())

    def result(self, forward: Forward, gradients: Sequence[Tensor | None]) -> dict[str, Tensor]:
        """By the parameter's name."""
        named = zip(forward.trained, gradients, strict=True)
        found = {name: gradient for name, gradient in named if gradient is not None}
        refuse_complex(found)
        if forward.trained and not found:
            raise UnsupportedError("the outputs do not depend on the weights in a differentiable way")
        return found


class Jacobian(Watcher[Tensor]):
    """Gradient of the sum of all outputs by the inputs: (samples, ...) as the first floating input."""

    name = "jacobian"
    root = "outputs"

    def targets(self, forward: Forward) -> Sequence[Tensor]:
        """The first floating input."""
        floating = [part for part in forward.inputs if part.is_floating_point()]
        if not floating:
            raise UnsupportedError("no floating input to differentiate by")
        return floating[:1]

    def result(self, forward: Forward, gradients: Sequence[Tensor | None]) -> Tensor:
        """One gradient per sample."""
        if gradients[0] is None:
            raise UnsupportedError("the outputs do not depend on the inputs in a differentiable way")
        return gradients[0]
