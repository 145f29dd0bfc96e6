"""Speed and memory, as ratios to the straightforward implementation in the same run; see perf/README.md."""
