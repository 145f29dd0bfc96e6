"""Charts of what is known of kernels and outputs: spectra, loss curves, the trade-off, independence by layers, output curves.

Plain info of `foresee.insight` to the plain charts that pages and notebooks draw (`figures.figure`, `plots`).
"""

from __future__ import annotations

from collections.abc import Mapping

from foresee.insight.kernels import KernelSpectrum, LossCurve
from foresee.insight.pictures import Independence, OutputCurve
from foresee.insight.trade_off import TradeOff
from foresee.report.figures import Chart, Layer, Scale

#: how many series have a colour of their own
COLOURS = 8
#: losses below this share of the first one are drawn as it: a logarithmic axis has to end somewhere
LEAST = 1e-12


def spectrum_chart(name: str, found: Mapping[str, KernelSpectrum]) -> Chart:
    """Eigenvalues of kernels, largest first, one line for each network, over the largest of its own."""
    layers = []
    for place, (label, one) in enumerate(found.items()):
        values = [value for value in reversed(one.eigenvalues) if value > 0]
        shares = tuple(value / values[0] for value in values)
        layers.append(_line(place, tuple(range(1, len(values) + 1)), shares, label))
    kappas = ", ".join(
        f"{label} {'none' if one.condition is None else f'{one.condition:.3g}'}" for label, one in found.items()
    )
    text = f"eigenvalues of tangent kernels over their largest; condition numbers: {kappas}"
    return Chart(name, text, "eigenvalue", "over the largest", "whole", tuple(layers), Scale(log=True))


def loss_chart(name: str, found: LossCurve) -> Chart:
    """Losses of gradient descent and what the first kernel foretold."""
    floor = LEAST * found.predicted[0]
    steps = tuple(float(step) for step in range(len(found.measured)))
    layers = (
        _line(0, steps, tuple(max(value, floor) for value in found.measured), "gradient descent"),
        _line(1, steps, tuple(max(value, floor) for value in found.predicted), "foretold by the kernel"),
    )
    text = (
        f"the loss over {len(steps) - 1} steps of gradient descent: {found.measured[0]:.3g} to {found.measured[-1]:.3g}; "
        f"the kernel at first foretells it within {100 * found.deviation:.2g} % of the first loss"
    )
    return Chart(name, text, "step", "loss", "whole", layers, Scale(log=True))


def trade_off_chart(name: str, found: TradeOff) -> Chart:
    """The mean error by bins of a metric, with the standard deviations, and the best bin in a ring."""
    x = tuple(one.metric for one in found.bins)
    means = tuple(one.error for one in found.bins)
    low, high = (tuple(one.error + sign * one.spread for one in found.bins) for sign in (-1, 1))
    best = found.bins[found.best]
    layers = (
        Layer("bars", "dot", x, low, "standard deviation", to=high),
        Layer("straight", "best", x, means, "mean error"),
        Layer("dots", "best", x, means, "", tuple(f"bin {place}" for place in range(len(x)))),
        Layer("ring", "front", (best.metric,), (best.error,), "least mean error"),
    )
    turn = "inside" if found.inside else "at an end, so there is no trade-off"
    text = (
        f"error against {found.metric} in {len(x)} bins; the best bin, {best.error:.4g} at {best.metric:.4g}, is {turn}"
    )
    return Chart(name, text, found.metric, "error", "score", layers, Scale(), x_log=_over_decades(x))


def independence_chart(name: str, found: Mapping[str, Independence]) -> Chart:
    """1 over the condition number of every layer's maps, one line for each network."""
    layers = tuple(
        _line(place, tuple(range(1, len(one.layers) + 1)), tuple(layer.value for layer in one.layers), label)
        for place, (label, one) in enumerate(found.items())
    )
    means = ", ".join(f"{label} {one.mean:.3g}" for label, one in found.items())
    text = f"linear independence of the feature maps of each layer; means: {means}"
    return Chart(
        name, text, "layer, in the order of the calls", "1 / condition number", "whole", layers, Scale(low=0.0)
    )


def output_chart(name: str, found: OutputCurve) -> Chart:
    """The outputs along a circle of inputs on their first two principal components."""
    closed = [*found.points, found.points[0]]
    x, y = tuple(point[0] for point in closed), tuple(point[1] if len(point) > 1 else 0.0 for point in closed)
    shares = " and ".join(f"{100 * share:.0f} %" for share in found.shares[:2])
    text = (
        f"outputs along a circle of inputs: {found.turning:.3g} turns; the two components have {shares} of the variance"
    )
    layers = (_line(0, x, y, ""), Layer("dots", "dot", x[:1], y[:1], "angle 0", ("angle 0",)))
    return Chart(name, text, "first principal component", "second principal component", "score", layers, Scale())


def _line(place: int, x: tuple[float, ...], y: tuple[float, ...], label: str) -> Layer:
    return Layer("straight", f"series-{place % COLOURS}", x, y, label)


def _over_decades(values: tuple[float, ...]) -> bool:
    return min(values) > 0 and max(values) / min(values) > 100
