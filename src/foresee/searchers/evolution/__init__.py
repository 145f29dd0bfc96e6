"""Evolution: candidates are made from earlier ones that did well. One file for each kind; `members` is what they share."""

from foresee.searchers.evolution.aging import Evolution
from foresee.searchers.evolution.batchwise import BatchEvolution
from foresee.searchers.evolution.elitist import ElitistEvolution
from foresee.searchers.evolution.genetic import Genetic
from foresee.searchers.evolution.history import HistoryEvolution

__all__ = ["BatchEvolution", "ElitistEvolution", "Evolution", "Genetic", "HistoryEvolution"]
