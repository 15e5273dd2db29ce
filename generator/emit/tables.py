"""Records to the tables that the runtime has besides the kernels: precisions, storages, bases, hops."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ..algebra.gamma import BASES, Basis
from ..algebra.su3 import STORAGES
from ..epilogue import EPILOGUES
from ..language.printed import literal
from ..precision import PRECISIONS, Precision
from ..spec import KernelSpec


def tables(specs: Iterable[KernelSpec]) -> dict[str, Any]:
    """Data of templates/tables.cpp.j2: what the runtime must know besides the kernels."""
    specs = list(specs)
    bases = {b.name: b for b in (*BASES.values(), *(s.basis for s in specs if s.basis))}
    hopping: dict[str, dict[str, Any]] = {}
    for spec in specs:
        operator = spec.operator
        spec = replace(spec, dagger=False) if spec.dagger else spec  # a module may hold the conjugate alone
        name = "_".join([operator.name, *([spec.basis.short] if spec.basis else [])])
        if operator.hops(spec) and name not in hopping:
            hopping[name] = {
                "id": f"{name}_hops",
                "operator": operator.name,
                "basis": spec.basis.name if spec.basis else "",
                "spins": operator.spins,
                "hops": [
                    {
                        "mu": h.mu,
                        "sign": f"{h.sign:+d}",
                        "length": h.length,
                        "phase": sum(1 << nu for nu in h.phase),
                        "matrix": _numbers(h.matrix),
                    }
                    for h in operator.hops(spec)
                ],
            }
    return {
        "precisions": [_precision_row(p) for p in PRECISIONS.values()],
        "storages": [
            f'{{"{s.name}", {s.reals}, {str(s.exact).lower()}, {str(s.temporal).lower()}, "{s.group}", {s.colours}}}'
            for s in STORAGES.values()
        ],
        "bases": [_basis_row(b) for b in bases.values()],
        "operators": list(hopping.values()),
        "epilogues": list(EPILOGUES),
    }


def _precision_row(p: Precision) -> str:
    norm = str(p.norm).lower()
    return f'{{"{p.name}", "{p.links.name}", {p.bits}, {p.word_bytes}, {p.spin_words}, {p.element_bytes}, {norm}}}'


def _basis_row(basis: Basis) -> dict[str, Any]:
    return {
        "name": basis.name,
        "short": basis.short,
        "rotation": _numbers(basis.rotation),
        "gamma": [_numbers(g) for g in basis.gamma],
    }


def _numbers(matrix: np.ndarray) -> str:
    """Row-major (re, im) pairs, wrapped."""
    parts = [literal(part + 0.0) for z in np.asarray(matrix, dtype=complex).flat for part in (z.real, z.imag)]
    return textwrap.fill(", ".join(parts), 96, subsequent_indent=" " * 6)
