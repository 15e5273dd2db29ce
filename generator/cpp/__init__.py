"""Algebra and values as C++ text: expressions, statements, numbers."""
