"""Algebra of kernels: gamma bases, projectors, link storages. Knows no text."""
