"""A searcher of your own: what it proposes, what it learns, and steps that a resumed run does not do again.

This one scores a small pool in steps, by a cheap proxy that the run itself does not follow, and then proposes neighbours of
the best of the pool.
"""

import foresee as fs
from foresee.searchers import Sampler, searchers


@searchers.register("pool_first")
class PoolFirst(Sampler):
    """Look at a pool first, then around its best."""

    name = "pool_first"
    summary = "scores a pool cheaply, then mutates its best"
    step_name = "parts of the pool"

    def __init__(self, problem, *, pool=12, part=4):
        super().__init__(problem)
        rng = problem.stream("pool")
        self.pool = [self.space.sample(rng) for _ in range(pool)]
        self.part, self.merits = part, []

    def steps_before(self, candidate):
        return len(self.pool) // self.part

    def step(self, number):  # plain values: they are stored, and a resumed run only advances
        some = self.pool[number * self.part : (number + 1) * self.part]
        return {"merits": [scores["naswot"].merit for scores in self.problem.scores(some, ["naswot"])]}

    def advance(self, number, outcome):
        self.merits += outcome["merits"]

    def propose(self, rng, attempt):
        best = max(range(len(self.merits)), key=self.merits.__getitem__)
        return self.space.mutate(self.pool[best], rng), None


if __name__ == "__main__":
    run = fs.search(
        "nasbench201", ["params"], "pool_first", [fs.budgets.params < 3000], evaluations=6, data="synthetic",
        space_settings={"channels": 2, "cells": 1}, inputs=(3, 8, 8), outputs=4, batch_size=8,
    )  # fmt: skip
    print(f"{len(run.record.steps)} steps, {len(run.record.scored)} candidates, best {run.best.architecture}")
