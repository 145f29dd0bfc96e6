"""Who looks: searchers propose architectures and learn from their scores; a search runs one of them."""

from foresee.scoring.settings import SearchSettings
from foresee.searchers.base import Proposal, Result, Searcher, searchers
from foresee.searchers.evolution import Evolution
from foresee.searchers.random import RandomSearch
from foresee.searchers.search import Run, run_search, search

__all__ = [
    "Evolution",
    "Proposal",
    "RandomSearch",
    "Result",
    "Run",
    "SearchSettings",
    "Searcher",
    "run_search",
    "search",
    "searchers",
]
