"""What was selected and why: the shape of cells, how fast they learn, how the loss lies around what was learnt,
what the theory of the papers says of them.

found = shapes(space, architecture)                      # width and depth of every cell (thesis, Section 4.2.2)
place = distribution(space).place(found[0])              # among all cells of its space
others = variants_of(architecture, 12)                   # the same operations, connected at random
"""

from __future__ import annotations

from foresee.lazy import lazily

_HOMES = {
    "Distribution": "foresee.insight.distributions",
    "Topology": "foresee.insight.topology",
    "distribution": "foresee.insight.distributions",
    "shape_of": "foresee.insight.topology",
    "shapes": "foresee.insight.topology",
    "variants_of": "foresee.insight.variants",
}
__all__ = sorted(_HOMES)
__getattr__, __dir__ = lazily(__name__, _HOMES)
