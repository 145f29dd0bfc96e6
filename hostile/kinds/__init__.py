"""One file for each kind of case; the first line of its docstring is the promise that its cases try to break.

A kind has a function `case(rng, folder)`: all that it draws comes from `rng`, all that it writes goes into `folder`, which is
empty and its own (and the current one), and whatever it raises is a broken promise. `SECONDS` and `MEBIBYTES` may say how
long one case may take and what each of its processes may hold.
"""
