"""Expressions that write fields and add up in one pass."""

import pytest

from generator.errors import ExpressionError
from generator.language import (
    Algebra,
    Matrices,
    Real,
    Spinor,
    Sum,
    directions,
    dot,
    expression,
    outer,
    re,
    total,
    trace,
    x,
)
from generator.operators.expression import Expression


def norm2(p):
    return sum(-re(trace(p[mu] * p[mu])) for mu in directions)


def test_a_kernel_writes_fields_and_adds_up():
    @expression
    def moved(p: Algebra, f: Algebra) -> tuple[Algebra, Sum]:
        return {mu: p[mu] + f[mu] for mu in directions}, total(norm2(f))

    @expression
    def before(p: Algebra, f: Algebra) -> tuple[Algebra, Sum]:
        return {mu: p[mu] + f[mu] for mu in directions}, total(norm2(p))

    one = Expression(moved)
    assert one.sums == 1 and "out" not in one.operands.values()
    assert one.signature == "p:algebra:x:here f:algebra:y:apart out:algebra:z:out"
    assert one.formula.startswith("out[x] = p[x] + f[x]; ") and "; total(-re(trace(f[x]*f[x]))" in one.formula
    assert "p:algebra:x:apart" in Expression(before).signature  # its sum is that of what p was

    @expression
    def first(p: Algebra) -> tuple[Sum, Algebra]:
        return total(norm2(p)), {mu: p[mu] for mu in directions}

    @expression
    def unsaid(p: Algebra) -> Algebra:
        return {mu: p[mu] for mu in directions}, total(norm2(p))

    for formula, message in ((first, "return fields first"), (unsaid, "annotate each")):
        with pytest.raises(ExpressionError, match=message):
            _ = Expression(formula).definition


def test_what_is_read_is_read_before_it_is_written():
    @expression
    def step(r: Spinor, q: Spinor, a: Real) -> tuple[Spinor, Sum]:
        return r - a * q, total(re(dot(r - a * q, r - a * q)))

    @expression
    def doubled(u: Matrices) -> tuple[Matrices, Sum]:
        return {mu: 2 * u[mu] for mu in directions}, total(re(trace(u[x])))

    @expression
    def both(f: Spinor, g: Spinor) -> tuple[Spinor, Matrices]:
        return f + g, {mu: outer(f, g) for mu in directions}

    for formula in (step, doubled):
        made = Expression(formula)
        assert "apart" not in made.signature, "an output may be an input"
        assert [[name for name, *_ in results][0] for _, results in made.blocks][:2] == ["", "out"]
    assert Expression(both).apart == {"f", "g"}, "its matrices are made of what its spinors would replace"
