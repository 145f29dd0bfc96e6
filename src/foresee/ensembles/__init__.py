"""Networks that predict together: how ensembles are found before they are trained, how good and how diverse they are.

posterior = fit(supernet.one_shot, validation, seed=0)      # which architectures fit the data (thesis, Eq. 5.4)
drawn = sample_mc(posterior, 3, seed=0)                      # or sample_svgd_rd(posterior, 3, delta=0.5, seed=0)
together = Ensemble([network, another, third])               # an nn.Module: the mean of what its members predict
"""

from foresee.ensembles.ensemble import Ensemble, combine
from foresee.ensembles.measures import Measures, measure
from foresee.ensembles.posterior import Posterior, fit
from foresee.ensembles.relaxation import Relaxation
from foresee.ensembles.sampling import sample_mc, sample_svgd_rd
from foresee.ensembles.selecting import Estimates, forward_selection, nesbs
from foresee.ensembles.svgd import svgd_rd

__all__ = [
    "Ensemble",
    "Estimates",
    "Measures",
    "Posterior",
    "Relaxation",
    "combine",
    "fit",
    "forward_selection",
    "measure",
    "nesbs",
    "sample_mc",
    "sample_svgd_rd",
    "svgd_rd",
]
