"""The sweep over candidates of kernels, its evidence, and what is chosen from it."""
