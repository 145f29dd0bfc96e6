"""Who looks: searchers propose architectures and learn from what became of them; a search runs one of them."""

from foresee.searchers.base import Result, Sampler, Searcher, searchers
from foresee.searchers.evolution import Evolution
from foresee.searchers.gate import Proposal
from foresee.searchers.problem import Levels, Problem
from foresee.searchers.random import RandomSearch
from foresee.searchers.run import Run
from foresee.searchers.search import run_search, search
from foresee.searchers.settings import SearchSettings

__all__ = [
    "Evolution",
    "Levels",
    "Problem",
    "Proposal",
    "RandomSearch",
    "Result",
    "Run",
    "Sampler",
    "SearchSettings",
    "Searcher",
    "run_search",
    "search",
    "searchers",
]
