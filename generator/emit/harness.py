"""What the templates of an exported kernel need: the reference's matrices, tolerances, codecs and names."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import numpy as np

from ..language.printed import literal
from ..spec import KernelSpec
from ..targets import Target
from .render import render

BACK_WEIGHT = 0.8
"""Weight of backward hops relative to forward ones, where an operator distinguishes them."""
TERMS = {"term_": "term", "second_": "twist"}
"""Stored site terms of the harness, and the members of Arguments that they are given as."""


def harness(spec: KernelSpec, target: Target, helpers: dict[str, KernelSpec], command: str, lattice: str) -> str:
    """Fields, reference, comparison and timing of a kernel as C++.

    Args:
        spec: the kernel.
        target: it runs on.
        helpers: by operator, the kernels that convert its fields from and to double.
        command: as in the banner of rendered files.
        lattice: X,Y,Z,T that the program runs on unless told otherwise; empty for the target's own.
    """
    operator = spec.operator
    cost = operator.cost(spec)
    norm, largest = tolerance(spec)
    data: dict[str, Any] = {
        "name": spec.name,
        "kernel": spec.name,
        "row": f"{spec.name}_row",
        "formula": operator.formula,
        "lattice": lattice or target.export_lattice,
        "codec": spec.format.spinor_codec,
        "spins": spec.colour_vectors,
        "flops": cost.reported,
        "bytes": literal(cost.bytes),
        "norm": norm,
        "largest": largest,
        "storage": f"2 * {norm}",
        "storage_largest": f"10 * {largest}",
        **{s.operator.name.removesuffix("_links"): s.name for s in helpers.values()},
    }
    pieces = ["fields", "compare", "spinors"]
    if operator.family == "hopping":
        data |= _hopping(spec)
        pieces += ["links", "reference_hopping", *(["term"] if data["terms"] else []), "hopping", "main"]
    else:
        im = float(operator.complex_scalars)
        data |= {"sums": operator.sums, "a": [0.7, 0.4 * im], "b": [-1.2, 0.3 * im], "c": [0.1, -0.9 * im]}
        pieces += ["reference_update", "update", "main"]
    templates = [f"targets/{target.name}/device.j2", *(f"export/{piece}.j2" for piece in pieces)]
    return "\n".join(render(template, command, **data) for template in templates)


def _hopping(spec: KernelSpec) -> dict[str, Any]:
    operator = spec.operator
    hops = [
        {
            "mu": mu,
            "sign": f"{sign:+d}",
            "phase": sum(1 << nu for nu in operator.form.phase(mu)),
            "matrix": _matrix(
                (BACK_WEIGHT if sign < 0 and mu in operator.form.directed else 1) * _spin_matrix(spec, mu, sign)
            ),
            "title": f"{'D^+: conjugate of ' if spec.dagger else ''}"
            f"{operator.form.term_text(mu, -sign if spec.dagger else sign) or '1'}",
        }
        for mu in operator.form.directions
        for sign in (1, -1)
    ]
    term = operator.site_term
    epilogue = re.sub(r"(?<!\()\b([dx])\b", r"\1(r)", spec.ends.formula)
    return {
        "hops": hops,
        "terms": dict(list(TERMS.items())[: operator.stored_terms(spec)]),
        "twisted": spec.has_term and term.twisted,
        "flavours": term.flavours,
        "gamma5": _matrix(spec.basis.gamma5) if spec.basis else "",
        "what": "D^+ psi" if spec.dagger else "D psi",
        "directed": {mu: BACK_WEIGHT for mu in operator.form.directed},
        "edge": ["std::polar(1.0, 0.3)" if spec.coefficient == "complex" else "1", "1", "1", "-1"],
        "link_codec": spec.format.links.link_codec,
        "term_codec": spec.format.links.link_codec,
        "link_storage": spec.links.upper(),
        "rotation": _matrix(spec.basis.rotation) if spec.basis else "",
        "tile": 12 if "kept" in spec.shape else spec.tile,
        "has_term": spec.has_term,
        "reads_x": spec.ends.reads_x,
        "result": spec.ends.formula,
        "epilogue": epilogue,
        "alpha": 0.75,
        "beta": 1 if spec.epilogue == "none" else -0.3,
    }


def _spin_matrix(spec: KernelSpec, mu: int, sign: int) -> np.ndarray:
    """Spin matrix of a hop, from the operator's definition; the conjugate takes the adjoint of the opposite hop."""
    matrix = np.asarray(spec.operator.form.spin_matrix(spec.basis, mu, -sign if spec.dagger else sign), dtype=complex)
    return matrix.conj().T if spec.dagger else matrix


def _matrix(matrix: np.ndarray) -> str:
    """A dense matrix as C++ text, `i` the imaginary unit: in one line, or a paragraph for each row."""
    rows = [f"{{{', '.join(map(_number, row))}}}" for row in np.asarray(matrix, dtype=complex)]
    short = "{{" + ", ".join(rows) + "}}"
    if len(short) <= 88:
        return short
    wrapped = [textwrap.fill(row, 110, initial_indent=" " * 8, subsequent_indent=" " * 9) for row in rows]
    return "{{\n" + ",\n".join(wrapped) + "}}"


def _number(z: complex) -> str:
    if z.imag == 0:
        return literal(z.real + 0.0)
    sign, unit = "-" if z.imag < 0 else "", "i" if abs(z.imag) == 1 else f"{abs(float(z.imag))!r}*i"
    return f"{sign}{unit}" if z.real == 0 else f"{float(z.real)!r}{sign or '+'}{unit}"


def tolerance(spec: KernelSpec) -> tuple[float, float]:
    """(relative 2-norm, largest element) as in tests/support.hpp."""
    lossy = bool(spec.links) and not spec.storage.exact
    known = {
        "double": ((1e-14, 2e-13), (1e-13, 2e-12)),
        "single": ((1e-6, 2e-5), (1e-5, 1e-4)),
        "half": ((2e-4, 4e-3), (1e-3, 2e-2)),
    }
    if spec.precision in known:
        return known[spec.precision][lossy]
    rounding = max(4 * 2.0**-spec.format.bits, 3e-7 if spec.format.element == "float" else 0.0)
    return float(f"{rounding:.3g}"), float(f"{20 * rounding:.3g}")
