"""Algebra as C++ text. All signs, phases and constants that a template prints come from here."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..algebra.gamma import Basis, snap
from ..algebra.su3 import Storage
from ..language.printed import literal


def colours_argument(colours: int) -> str:
    """The number of colours as a last template argument; empty for three, the default of all templates."""
    return "" if colours == 3 else f", {colours}"


def combination(row: np.ndarray, names: list[str]) -> str:
    """sum_k row[k] * names[k] as an expression of colour vectors; multiples of i need no multiplication.

    A modulus that all coefficients share is factored out.
    """
    row = np.asarray(row, dtype=complex)
    sizes = np.abs(row[np.abs(row) > 0])
    if len(sizes) > 1 and sizes[0] != 1 and np.abs(sizes - sizes[0]).max() < 1e-15:
        units = snap(row / sizes[0])
        if all(u in (0, 1, -1, 1j, -1j) for u in units):
            return f"times({literal(sizes[0])}, {combination(units, names)})"
    text = ""
    for c, name in zip(row, names, strict=True):
        if abs(c) == 0:
            continue
        sign, factor = _term(complex(c), name)
        text += f" {sign} {factor}" if text else (f"-{factor}" if sign == "-" else factor)
    return text


def accumulation(target: str, row: np.ndarray, names: list[str], *, first: bool) -> str:
    """Statement that starts (`first`) or continues a sum; empty if the row contributes nothing."""
    text = combination(row, names)
    if not text:
        return ""
    if first:
        return f"{target} = {text};"
    if np.count_nonzero(row) == 1 and text.startswith("-"):
        return f"{target} -= {text[1:]};"
    return f"{target} += {text};"


def _term(c: complex, name: str) -> tuple[str, str]:
    """(sign, factor) of c * name."""
    if c.imag == 0:
        sign, size = ("-", -c.real) if c.real < 0 else ("+", c.real)
        return sign, name if size == 1 else f"times({literal(size)}, {name})"
    if c.real == 0:
        sign, size = ("-", -c.imag) if c.imag < 0 else ("+", c.imag)
        inner = f"times_i({name})"
        return sign, inner if size == 1 else f"times({literal(size)}, {inner})"
    return "+", f"times({literal(c.real)}, {literal(c.imag)}, {name})"


def statements_of(formula: str) -> list[str]:
    """Lines of a formula of several statements."""
    return [line for s in formula.split("; ") for line in textwrap.wrap(s, 100, subsequent_indent="    ")]


@dataclass(frozen=True)
class Text:
    """A C++ expression; `kind` is real or complex, `atom` is true if it needs no parentheses.

    A product of complex numbers keeps its factors and sign, so that a sum of two becomes one chain of multiply-adds.
    """

    code: str
    kind: str
    atom: bool = True
    factors: tuple[Text, Text] | None = None
    sign: int = 1

    @property
    def operand(self) -> str:
        """The expression as an operand of * or unary minus."""
        return self.code if self.atom else f"({self.code})"

    def _kind(self, other: Text) -> str:
        return "complex" if "complex" in (self.kind, other.kind) else "real"

    def _products(self, other: Text, sign: int) -> Text:
        assert self.factors and other.factors
        name = "sum_of_products" if sign == self.sign else "difference_of_products"
        arguments = ", ".join(x.code for x in (*self.factors, *other.factors))
        return Text(f"{'-' if self.sign < 0 else ''}{name}({arguments})", "complex", atom=self.sign > 0)

    def __add__(self, other: Text) -> Text:
        if self.factors and other.factors:
            return self._products(other, other.sign)
        return Text(f"{self.code} + {other.code}", self._kind(other), atom=False)

    def __sub__(self, other: Text) -> Text:
        if self.factors and other.factors:
            return self._products(other, -other.sign)
        return Text(f"{self.code} - {other.operand}", self._kind(other), atom=False)

    def __mul__(self, other: Text) -> Text:
        factors = (self, other) if self.kind == other.kind == "complex" else None
        return Text(f"{self.operand} * {other.operand}", self._kind(other), atom=False, factors=factors)

    def __neg__(self) -> Text:
        return Text(f"-{self.operand}", self.kind, atom=False, factors=self.factors, sign=-self.sign)

    def __rsub__(self, other: int) -> Text:
        return Text(f"broadcast<R>({other}) - {self.operand}", "real", atom=False)


_CALLS = {
    "real": ("{}.re", "real"),
    "imag": ("{}.im", "real"),
    "conj": ("conj({})", "complex"),
    "norm2": ("norm2({})", "real"),
    "reciprocal": ("reciprocal({})", "real"),
    "root": ("clamped_root({})", "real"),
    "chart": ("phase_chart({})", "real"),
    "unit": ("unit_phase({})", "complex"),
    "where_less": ("where_less({}, {}, {})", "real"),
}
"""Operations of storages in C++, and kinds of their results."""


@dataclass
class Tracer:
    """Ops of generator.algebra.su3 that print C++; `let` collects statements."""

    statements: list[str] = field(default_factory=list)
    zero = Text("R{}", "real")
    smallest = Text("broadcast<R>(smallest)", "real")

    def complex(self, re: Text, im: Text) -> Text:
        return Text(f"Complex<R>{{{re.code}, {im.code}}}", "complex")

    def __getattr__(self, operation: str) -> Callable[..., Text]:
        if operation not in _CALLS:
            raise AttributeError(operation)
        form, kind = _CALLS[operation]
        return lambda *given: Text(form.format(*(g.operand if form[0] == "{" else g.code for g in given)), kind)

    def let(self, name: str, value: Text) -> Text:
        self.statements.append(f"const auto {name} = {value.code};")
        return Text(name, value.kind)


def storage_text(storage: Storage) -> dict[str, Any]:
    """Statements and results of a link storage for templates/links.hpp.j2."""
    decoder, encoder = Tracer(), Tracer()
    rows = storage.decode([Text(f"p[{i}]", "real") for i in range(storage.reals)], decoder)
    n = storage.colours
    link = [[Text(_element(i, j, n), "complex") for j in range(n)] for i in range(n)]
    reals = storage.encode(link, encoder)
    elements = [z.code for row in rows for z in row]
    return {
        "storage": storage,
        "in_place": 0 if storage.temporal else 2 * _leading(elements, decoder.statements),
        "decode_statements": decoder.statements,
        "elements": elements,
        "encode_statements": encoder.statements,
        "reals": [x.code for x in reals],
    }


def _element(row: int, column: int, colours: int) -> str:
    """An element of a link in C++ (runtime/kernels/colour.hpp)."""
    return f"u.{'abc'[row]}{column}" if colours == 3 else f"u.e[{colours * row + column}]"


def _leading(elements: Sequence[str], statements: Sequence[str]) -> int:
    """How many leading elements of a link are stored as two reals each."""
    named = {s.split()[2]: s.split(" = ", 1)[1].rstrip(";") for s in statements}
    stored = [f"Complex<R>{{p[{2 * n}], p[{2 * n + 1}]}}" for n in range(len(elements))]
    differs = (n for n, z in enumerate(elements) if named.get(z, z) != stored[n])
    return next(differs, len(elements))


def frame_text(basis: Basis) -> dict[str, Any]:
    """Rows of the rotation to the frame of site terms and back, and of i gamma_5, for templates/basis.hpp.j2."""
    to_chiral = basis.rotation.conj().T
    names = [f"psi[{s}]" for s in range(4)]
    return {
        "basis": basis.name,
        "to_chiral": [combination(row, names) for row in to_chiral],
        "from_chiral": [combination(row, names) for row in basis.rotation],
        "i_gamma5": [combination(1j * row, names) for row in snap(basis.gamma5)],
    }
