"""Benchmarks, a module each with ``main(argv)``: ``python -m explore_context_evaluation.benchmarks NAME``."""
