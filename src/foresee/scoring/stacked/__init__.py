"""Many architectures of one space at once: one run of the device for all of them, the scores of each as if it were alone.

    skeleton      what the networks of a space have in common, as a value; `skeletons` says it of each space
    transformer   the parts of those that work on tokens
    sizes         how many maps, weights and drawn numbers there are in the networks of a skeleton
    weights       all weights are pieces of one stream of random numbers: no network is built
    wiring        which architectures have which operation where, and where their weights lie in the stream
    layers        convolution, batch norm, ReLU and pooling with an architecture axis
    tokens        patches, layer norm and attention with one
    network       the run: the skeleton part by part, cells operation by operation
    coverage      how much of its weights each network shows to a look
    looks         what is seen on the way: features, curves, patterns, exchanges, gradients
    seat          one architecture of a stack, as the probe that a formula reads
    stacking      from architectures to scores; what can be stacked, and why not

Nothing is approximated, and no formula is here: those of `foresee.proxies` read a seat as they read a probe.
"""

from __future__ import annotations
