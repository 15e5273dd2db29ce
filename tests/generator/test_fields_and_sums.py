"""Expressions that write fields and add up in one pass."""

import pytest

from generator.errors import ExpressionError
from generator.language import Algebra, Sum, directions, expression, re, total, trace
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
