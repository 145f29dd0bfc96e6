"""Published vision transformers of the AutoFormer spaces."""

from __future__ import annotations

from foresee.spaces.autoformer.architecture import Architecture

TINY = {
    # three ratios of 3.0, which the space itself does not offer: this one lies outside
    "AutoFormer_T": Architecture(
        192,
        (3.5, 3.5, 3.0, 3.5, 3.0, 3.0, 4.0, 4.0, 3.5, 4.0, 3.5, 4.0, 3.5),
        (3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 3, 3),
    ),
    "AZ_NAS_T": Architecture(
        192,
        (3.5, 3.5, 3.5, 4.0, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 4.0, 4.0),
        (4, 3, 4, 4, 4, 4, 4, 3, 3, 4, 4, 4),
    ),
    "TF_TAS_T": Architecture(
        192,
        (3.5, 4.0, 3.5, 3.5, 4.0, 3.5, 3.5, 3.5, 4.0, 4.0, 4.0, 4.0, 3.5),
        (4, 3, 3, 3, 3, 4, 4, 3, 3, 3, 4, 3, 3),
    ),
}
SMALL = {
    "AutoFormer_S": Architecture(
        384,
        (3.0, 3.5, 3.0, 3.5, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 3.5, 4.0),
        (6, 6, 5, 7, 5, 5, 5, 6, 6, 7, 7, 6, 7),
    ),
}
BASE = {
    "AutoFormer_B": Architecture(
        576,
        (3.5, 3.5, 4.0, 3.5, 4.0, 3.5, 3.5, 3.0, 4.0, 4.0, 3.0, 4.0, 3.0, 3.5),
        (9, 9, 9, 9, 9, 10, 9, 9, 10, 9, 10, 9, 9, 10),
    ),
}
