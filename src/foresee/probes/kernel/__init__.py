"""The neural tangent kernel: gradients per sample, their products, the spectrum, all within known memory."""

from __future__ import annotations

from foresee.probes.kernel.heads import MEMORY, METHODS, OUTPUTS, PARAMETERS
from foresee.probes.kernel.matrix import Kernel, ntk, predicted_bytes, sample_gradients, sample_norms, trace_estimates
from foresee.probes.kernel.spectrum import condition_number, spectrum

__all__ = [
    "ntk",
    "Kernel",
    "sample_norms",
    "sample_gradients",
    "trace_estimates",
    "predicted_bytes",
    "spectrum",
    "condition_number",
    "OUTPUTS",
    "PARAMETERS",
    "METHODS",
    "MEMORY",
]
