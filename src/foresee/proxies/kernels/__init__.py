"""What the neural tangent kernel shows: its trace, its condition, and the metrics of NASI and HNAS."""
