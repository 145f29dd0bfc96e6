"""Reference points: what the papers' formulas are in plain loops, one proxy at a time. Nothing of the package uses them."""
