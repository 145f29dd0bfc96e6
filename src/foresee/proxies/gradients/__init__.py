"""What gradients and weights show: norms, products, variances over batches, what would be lost without a weight."""
