"""Searchers that train: one network of all options, its weights and the choice among them learned together.

base      what they share: the one-shot network, the halves of the data, the weights' optimiser, steps of many batches
relaxed   choices as logits that a gradient reaches        darts, snas, gdas, pc_darts
drawn     paths that are drawn, and judged by shared weights    rsps, enas (by a controller), setn (logits as well)
"""
