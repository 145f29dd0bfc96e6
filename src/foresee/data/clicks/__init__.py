"""Click logs: from a raw file of impressions to batches."""
