"""Real training: recipes, the loop, checkpoints, augmentation, export."""
