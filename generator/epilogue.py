"""Epilogues: what hopping kernels do with D psi before they write it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Epilogue:
    """What a hopping kernel does with D psi before it writes: nothing, a x + b D psi, or products with the site term.

    Attributes:
        name: as in records, kernel names and the registry.
        formula: the result, with d = D psi; T(x) applies the site term of the operator, T(d) its inverse.
        cpp: name of its class in runtime/kernels/epilogue.hpp.
    """

    name: str
    formula: str
    cpp: str

    @property
    def reads_x(self) -> bool:
        """True if the epilogue reads another field x."""
        return "x" in self.formula

    @property
    def has_term(self) -> bool:
        """True if the epilogue applies the site term or its inverse."""
        return "T(" in self.formula

    @property
    def applies_inverse(self) -> bool:
        """True if the epilogue applies the inverse of the site term."""
        return "T(d)" in self.formula


EPILOGUES = {
    e.name: e
    for e in (
        Epilogue("none", "d", "Plain"),
        Epilogue("axpby", "alpha * x + beta * d", "Axpby"),
        Epilogue("tinv", "beta * T(d)", "Tinv"),
        Epilogue("axpby_tinv", "alpha * x + beta * T(d)", "AxpbyTinv"),
        Epilogue("taxpby", "alpha * T(x) + beta * d", "Taxpby"),
    )
}
"""All epilogues by name, in the order of the time that solvers spend on them."""
