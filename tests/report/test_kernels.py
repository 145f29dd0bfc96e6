"""Charts of kernels and outputs: numbers on their axes, drawn as SVG."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from foresee.insight.kernels import kernel_spectrum, loss_curve
from foresee.insight.pictures import independence, output_curve
from foresee.insight.trade_off import trade_off
from foresee.report.figures import figure
from foresee.report.kernels import independence_chart, loss_chart, output_chart, spectrum_chart, trade_off_chart


def small(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Flatten(), nn.Linear(12, 6), nn.Tanh(), nn.Linear(6, 3))


def batch():
    torch.manual_seed(1)
    return torch.randn(5, 3, 2, 2), torch.tensor([0, 1, 2, 0, 1])


def charts():
    metric = np.linspace(0.1, 2.0, 100)
    return {
        "spectrum": spectrum_chart("s", {f"net {seed}": kernel_spectrum(small(seed), batch()) for seed in (1, 2)}),
        "loss": loss_chart("l", loss_curve(small(), batch(), steps=5)),
        "trade-off": trade_off_chart("t", trade_off(metric, (metric - 1) ** 2, name="M_Trace")),
        "independence": independence_chart("i", {"good": independence(small(), batch())}),
        "output": output_chart("o", output_curve(small(), batch(), points=16)),
    }


def test_every_chart_can_be_drawn():
    for name, chart in charts().items():
        assert chart.text, name
        assert all(len(layer.x) == len(layer.y) for layer in chart.layers)
        axes = figure(chart).axes[0]
        assert axes.lines or axes.collections


def test_what_they_show():
    made = charts()
    for layer in made["spectrum"].layers:
        assert layer.y[0] == 1.0
        assert list(layer.y) == sorted(layer.y, reverse=True)
    assert [layer.label for layer in made["loss"].layers] == ["gradient descent", "foretold by the kernel"]
    assert made["loss"].layers[0].y[0] == pytest.approx(made["loss"].layers[1].y[0])
    ring = made["trade-off"].layers[-1]
    assert ring.y[0] == min(made["trade-off"].layers[1].y)
    assert "is inside" in made["trade-off"].text
    curve = made["output"].layers[0]
    assert (curve.x[0], curve.y[0]) == (curve.x[-1], curve.y[-1])
