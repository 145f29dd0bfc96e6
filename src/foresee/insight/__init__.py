"""What was selected and why: the shape of cells, how fast they learn, how the loss lies around what was learnt,
what the theory of the papers says of them.

found = shapes(space, architecture)                      # width and depth of every cell (thesis, Section 4.2.2)
place = distribution(space).place(found[0])              # among all cells of its space
others = variants_of(architecture, 12)                   # the same operations, connected at random
spectrum = kernel_spectrum(network, batch)               # eigenvalues, trace and condition number of the tangent kernel
said = survey(network, batch)                            # what the papers' theorems say of it, both sides measured
"""

from __future__ import annotations

from foresee.lazy import lazily

_HOMES = {
    "Explanation": "foresee.insight.explanation",
    "Distribution": "foresee.insight.distributions",
    "Independence": "foresee.insight.pictures",
    "KernelSpectrum": "foresee.insight.kernels",
    "LossCurve": "foresee.insight.kernels",
    "OutputCurve": "foresee.insight.pictures",
    "Stability": "foresee.insight.pictures",
    "Statement": "foresee.insight.theory.statement",
    "Study": "foresee.insight.studies",
    "Survey": "foresee.insight.theory.survey",
    "Topology": "foresee.insight.topology",
    "TradeOff": "foresee.insight.trade_off",
    "compared": "foresee.insight.differences",
    "converge": "foresee.insight.convergence",
    "distribution": "foresee.insight.distributions",
    "explain": "foresee.insight.explaining",
    "independence": "foresee.insight.pictures",
    "kernel_spectrum": "foresee.insight.kernels",
    "loss_curve": "foresee.insight.kernels",
    "near_convex": "foresee.insight.landscape",
    "output_curve": "foresee.insight.pictures",
    "shape_of": "foresee.insight.topology",
    "shapes": "foresee.insight.topology",
    "stability": "foresee.insight.pictures",
    "survey": "foresee.insight.theory.survey",
    "variants_of": "foresee.insight.variants",
    "whole_network": "foresee.insight.whole",
}
__all__ = sorted(_HOMES)
__getattr__, __dir__ = lazily(__name__, _HOMES)
