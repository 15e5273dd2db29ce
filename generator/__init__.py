"""Quarksmith's generator: from one record per kernel to specialised sources for CPUs and GPUs."""
