"""What was selected and why: the shape of cells, how fast they learn, what the theory of the papers says of them."""
