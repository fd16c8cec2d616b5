"""The paper's experiments, tables and figures, and the benchmarks."""
