"""What may be spent: hard limits on a network, checked before it is ever scored.

    >>> from foresee import budgets
    >>> str(budgets.Limits([budgets.params < 1e6, budgets.macs <= 100e6]))
    'params < 1 M, macs ≤ 100 M'

Params, MACs and FLOPs come from the space's own formulas, layers and memory from the meta device, latency from a clock or a
table; the expensive ones are looked at only when the cheap ones are met.
"""

from foresee.budgets.clock import Clock, LatencyTable, Timing, time_network
from foresee.budgets.limits import Limit, Limits, flops, latency, layers, macs, memory, params
from foresee.budgets.quantities import QUANTITIES, Costs, Quantity

__all__ = [
    "Clock",
    "Costs",
    "LatencyTable",
    "Limit",
    "Limits",
    "QUANTITIES",
    "Quantity",
    "Timing",
    "flops",
    "latency",
    "layers",
    "macs",
    "memory",
    "params",
    "time_network",
]
