"""Published DARTS-like cells by name, in the shorthand `operation@input`, one bracket for each node."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from foresee.spaces.darts.cells import NODES, Architecture, Cell

_SHORT = {
    "s3": "sep_conv_3x3",
    "s5": "sep_conv_5x5",
    "s7": "sep_conv_7x7",
    "d3": "dil_conv_3x3",
    "d5": "dil_conv_5x5",
    "mx": "max_pool_3x3",
    "av": "avg_pool_3x3",
    "id": "skip_connect",
    "71": "conv_7x1_1x7",
}


def _cell(short: str, *concat: int) -> Cell:
    edges = tuple((_SHORT[op], int(source)) for op, source in re.findall(r"(\w\w)@(\d)", short))
    return Cell(edges, concat or NODES)


#: NASNet_A, AmoebaNet_A and ENAS as the DARTS code encodes them: five nodes, so outside the space
NAMED: Mapping[str, Architecture] = MappingProxyType(
    {
        "NASNet_A": Architecture(
            _cell("[s5@1 s3@0][s5@0 s3@0][av@1 id@0][av@0 av@0][s3@1 id@1]", 2, 3, 4, 5, 6),
            _cell("[s5@1 s7@0][mx@1 s7@0][av@1 s5@0][id@3 av@2][s3@2 mx@1]", 4, 5, 6),
        ),
        "AmoebaNet_A": Architecture(
            _cell("[av@0 mx@1][s3@0 s5@2][s3@0 av@3][s3@1 id@1][id@0 av@1]", 4, 5, 6),
            _cell("[av@0 s3@1][mx@0 s7@2][s7@0 av@1][mx@0 mx@1][71@0 s3@5]", 3, 4, 6),
        ),
        "ENAS": Architecture(
            _cell("[s3@1 id@1][s5@1 id@0][av@0 s3@1][s3@0 av@1][s5@1 av@0]", 2, 3, 4, 5, 6),
            _cell("[s5@0 av@1][s3@1 av@1][s3@1 av@1][s5@4 av@1][s3@5 s5@0]", 2, 3, 6),
        ),
        "DARTS_V1": Architecture(
            _cell("[s3@1 s3@0][id@0 s3@1][id@0 s3@1][s3@0 id@2]"),
            _cell("[mx@0 mx@1][id@2 mx@0][mx@0 id@2][id@2 av@0]"),
        ),
        "DARTS_V2": Architecture(
            _cell("[s3@0 s3@1][s3@0 s3@1][s3@1 id@0][id@0 d3@2]"),
            _cell("[mx@0 mx@1][id@2 mx@1][mx@0 id@2][id@2 mx@1]"),
        ),
        "SNAS": Architecture(
            _cell("[s3@0 s3@1][id@0 d3@1][id@0 id@1][id@0 s3@1]"),
            _cell("[mx@0 mx@1][id@2 mx@1][mx@1 id@2][d5@2 mx@0]"),
        ),
        "GDAS_V1": Architecture(
            _cell("[id@0 id@1][id@0 s5@2][s3@3 id@0][s5@4 s3@3]"),
            _cell("[s5@0 s3@1][s5@2 s5@1][d5@2 s3@1][s5@0 s5@1]"),
        ),
        "PC_DARTS_C10": Architecture(
            _cell("[s3@1 id@0][s3@0 d3@1][s5@0 s3@1][av@0 d3@1]"),
            _cell("[s5@1 mx@0][s5@1 s5@2][s3@0 s3@3][s3@1 s3@2]"),
        ),
        "PC_DARTS_ImageNet": Architecture(
            _cell("[id@1 s3@0][s3@0 id@1][s3@1 s3@3][s3@1 d5@4]"),
            _cell("[s3@0 id@1][d5@2 mx@1][s3@2 s3@1][s5@0 s3@3]"),
        ),
    }
)
