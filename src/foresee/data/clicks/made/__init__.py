"""Click logs that are made here, whose truth is known."""
