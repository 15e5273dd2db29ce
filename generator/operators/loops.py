"""Wilson and Polyakov loops from lines of links that grow from field to field."""

from __future__ import annotations

from ..language import Direction, Links, Matrices, Sum, adj, directions, expression, im, re, shift, total, trace
from ..language.gauge import corner


@expression
def longer_lines(u: Links, lines: Matrices) -> Matrices:
    """Lines along each direction with a link more at their beginning."""
    return {mu: u[mu] * shift(lines[mu], +mu) for mu in directions}


@expression
def lines_ahead(lines: Matrices, mu: Direction) -> Matrices:
    """Lines that start at x + mu, stored at x."""
    return {nu: shift(lines[nu], +mu) for nu in directions}


@expression
def path_from_ahead(u: Links, paths: Matrices, mu: Direction, nu: Direction) -> Matrices:
    """The path stored in slot mu at x + nu, with the link to there before it."""
    return {mu: u[nu] * shift(paths[mu], +nu)}


@expression
def path_from_behind(u: Links, paths: Matrices, mu: Direction, nu: Direction) -> Matrices:
    """The same of x - nu, where the link is gone back."""
    return {mu: shift(adj(u[nu]) * paths[mu], -nu)}


@expression
def diagonals(u: Links, mu: Direction, nu: Direction, rho: Direction) -> Matrices:
    """From x to x + mu + nu, first along mu, first along nu; as the third from x + nu by x + nu + mu to x + mu."""
    return {mu: corner(u, mu, nu), nu: corner(u, nu, mu), rho: shift(u[mu], +nu) * adj(shift(u[nu], +mu))}


@expression
def loop_sum(lines: Matrices, ahead: Matrices, above: Matrices, high: Matrices, mu: Direction, nu: Direction) -> Sum:
    """Re tr of lines along mu, `ahead` of which others stand along nu, back along those `above`, and down again."""
    return total(re(trace(lines[mu] * ahead[nu] * adj(high[nu] * above[mu]))))


@expression
def trace_sums(lines: Matrices, mu: Direction) -> tuple[Sum, Sum]:
    """Sums of the traces, real and imaginary part."""
    return total(re(trace(lines[mu]))), total(im(trace(lines[mu])))


@expression
def trace_products(lines: Matrices, ahead: Matrices, mu: Direction) -> Sum:
    """Real part of the trace of a line times the conjugate of another one's."""
    return total(re(trace(lines[mu]) * adj(trace(ahead[mu]))))
