"""The same as one kernel for each operation, as a library of lattice-wide operations would do it: to compare times.

A step is 3 (shift_forward, multiply, add, multiply_adj, shift_backward, add) and scale_add.
"""

from generator.language import Links, Real, Spinor, adj, expression, shift, x


@expression
def shift_forward(f: Spinor) -> Spinor:
    """f(x + mu)."""
    return shift(f, +x)


@expression
def shift_backward(f: Spinor) -> Spinor:
    """f(x - mu)."""
    return shift(f, -x)


@expression
def multiply(u: Links, f: Spinor) -> Spinor:
    """The product u f."""
    return u[x] * f


@expression
def multiply_adj(u: Links, f: Spinor) -> Spinor:
    """u^+ f."""
    return adj(u[x]) * f


@expression
def add(f: Spinor, g: Spinor) -> Spinor:
    """The sum f + g."""
    return f + g


@expression
def scale_add(s0: Spinor, h: Spinor, kappa: Real) -> Spinor:
    """s0 + kappa h."""
    return s0 + kappa * h
