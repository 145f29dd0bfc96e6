"""What the feature maps show: their conditioning and correlation, the curvature of the output, how signals pass."""
