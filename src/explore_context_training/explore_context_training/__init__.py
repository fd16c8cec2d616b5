"""Data, networks, objective, training loop and export of the learned models (needs torch)."""
