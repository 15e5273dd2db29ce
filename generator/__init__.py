"""Quarksmith's generator: from one record per kernel to specialised CUDA and CPU sources."""
