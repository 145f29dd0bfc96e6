"""Training images changed a little each time they are seen: batched, on the device, one draw for each sample.

    inputs = augment(inputs, recipe, generator, statistics)
    inputs, targets = mixed(inputs, labels, classes, recipe, generator)

Every random number comes from the generator handed in, which lives on the CPU whatever the device, so a batch is changed
in the same way everywhere; what was drawn is known without asking the device for it.
"""

from __future__ import annotations

from foresee.training.augmentation.changing import augment
from foresee.training.augmentation.mixing import mixed

__all__ = ["augment", "mixed"]
