"""The standing campaign: hostile input and faults, thrown at foresee for as long as one likes.

`make hostile` runs it; docs/reliability.md says what is promised and how a case is repeated. A kind of case is one file in
`kinds/` with a function `case(rng, folder)` that raises where a promise is broken; it is found by itself.
"""
