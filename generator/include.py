"""What a profile gets beside its rows: kernels without which solvers, conversions and commands cannot use those.

Each set follows from what the rows ask for: their precisions, links, bases, spins and site terms. A row with
`include = false` takes no part: it is built for tests or comparisons, and no solver asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from generator.actions import ACTIONS
from generator.epilogue import EPILOGUES
from generator.operators import kernel
from generator.operators.fat_links import link_stages
from generator.spec import KernelSpec, SpecError

COEFFICIENTS = ("scale", "axpby", "caxpby", "norm2", "cdot", "residual")
"""Updates whose coefficients come with the call."""
ITERATIONS = (
    *("measure", "advance", "cg_direction", "cg_curvature", "cg_residual", "cg_replace", "cg_reproject"),
    *("bicgstab_direction", "bicgstab_alpha", "bicgstab_half_step", "bicgstab_advance", "bicgstab_omega"),
    *("bicgstab_step", "bicgstab_replace"),
)
"""Coefficients on the device: conjugate gradients and BiCGstab."""
METHODS = (
    *("cgne_direction", "cgne_replace", "mr_alpha", "mr_step", "gcr_direction", "gcr_project", "gcr_orthogonalise"),
    *("bicgstab_l_direction", "bicgstab_l_rho", "bicgstab_l_tau", "bicgstab_l_minimise", "bicgstab_l_solve"),
    *("bicgstab_l_update", "bicgstab_l_step"),
)
"""Further methods."""
SHIFTS = ("hermitian_curvature", "shift_residual", "shift_coefficients", "shift_direction")
"""Conjugate gradients for many shifts."""
BLOCKS = ("block_dot", "block_product", "block_update")
"""Conjugate gradients with a block of right-hand sides."""
STAGGERED = (
    *(*COEFFICIENTS, "measure", "advance", "cg_direction", "cg_residual", "cg_replace", "cg_reproject"),
    *SHIFTS,
)
"""What staggered quarks are solved with: one colour vector a site, conjugate gradients of a Hermitian operator."""
EVERY_METHOD = ("double", "single", "half")
"""Precisions in which all methods run; in the others those of ITERATIONS do, inside mixed precision."""
LINK_EXPRESSIONS = (
    *("stout3_step", "stout4_step", "ape3_step", "ape4_step", "one_link", "last_staple", "hyp_link"),
    *("flow_step", "plaquette_energy", "clover_energy"),
)
MADE_LINKS = dict.fromkeys(
    kernel
    for action in ACTIONS.values()
    for stage in link_stages(action)
    for kernel in (*(launch.kernel for launch in stage.launches), *(["project_u3"] if stage.project else ()))
)
"""What makes the links of actions from those of a configuration."""
MOLECULAR_DYNAMICS = ("move_links", "kick", "stretch_time", "algebra_norm2", "back_to_su3")

Kernels = dict[str, KernelSpec]


def _add(found: Kernels, operator: str, precision: str, **axes: object) -> None:
    spec = kernel(operator, precision, **axes)
    found.setdefault(spec.name, spec)


def support(spec: KernelSpec) -> list[KernelSpec]:
    """Kernels that bring the fields of one to the device and back."""
    operator, links = spec.operator, spec.format.links.name
    found: Kernels = {}
    if operator.family in ("hopping", "update", "block", "term", "slices") or spec.spins:
        for name in ("import", "export"):
            _add(found, name, spec.precision, spins=spec.colour_vectors)
    expression = operator.family == "expression" and spec.format.bits >= 32
    for name in ("encode_links", "decode_links"):
        _add(found, name, "double", links="r18")
        for storage in {spec.links, "r18" if expression else ""} - {""}:
            _add(found, name, links, links=storage)
    if operator.family == "term" or spec.has_term or "term" in operator.name:
        _add(found, "clover_term", "double", links="r18")
        _add(found, "invert_term", "double")
        _add(found, "invert_twisted_term", "double")
        for name in ("encode_term", "decode_term"):
            _add(found, name, links)
    return list(found.values())


def _stored_as_computed(spec: KernelSpec) -> bool:
    """Conversions from double to itself: tests run them, the library copies."""
    name = spec.operator.name
    plain = name in ("import", "export") or (name.endswith("code_links") and spec.links == "r18")
    return plain and spec.precision == "double"


def _solve(rows: list[KernelSpec]) -> Kernels:
    found: Kernels = {}
    _add(found, "plaquette", "double", links="r18")
    used = list(rows)
    for spec in rows:
        more: Kernels = {}
        if spec.operator.is_dirac:
            _COMPLETE[spec.operator.family](more, spec, rows)
        used += more.values()
        found = more | found
    for spec in used:
        for needed in support(spec) if spec.operator.family in USED else ():
            if not _stored_as_computed(needed):
                found.setdefault(needed.name, needed)
    for spins, precision in dict.fromkeys((s.operator.spins, s.precision) for s in used if s.operator.is_dirac):
        _add_methods(found, spins, precision)
    return found


USED = ("hopping", "slices", "expression")
"""Families whose fields callers bring to the device."""


def _complete_hopping(found: Kernels, spec: KernelSpec, rows: list[KernelSpec]) -> None:
    """All forms in which solvers apply an operator, in its precision and in double, where residuals are taken.

    Those of links that fewer reals do not hold to rounding are taken with all 18.
    """
    operator, term = spec.operator, spec.operator.site_term
    dirac = operator.spins == 4
    for precision, links in dict.fromkeys(((spec.precision, spec.links), ("double", spec.links), ("double", "r18"))):
        axes: dict[str, Any] = {"basis": spec.basis, "coefficient": spec.coefficient, "ranks": spec.ranks}
        axes |= {"precision": precision, "links": links}
        for dagger in (False, True) if dirac else (False,):
            plain = (operator.hops_of or operator).name
            for end in EPILOGUES.values():
                if not end.has_term:
                    _add(found, plain, dagger=dagger, epilogue=end.name, tile=1, **axes)
                elif spec.has_term:
                    _add(found, operator.name, dagger=dagger, epilogue=end.name, tile=term.flavours, **axes)
        if spec.has_term:
            tile = {"tile": term.flavours} if term.flavours > 1 else {}
            _add(found, f"apply_{term.name}", precision, basis=spec.basis, **tile)
    if spec.storage.temporal:
        _add(found, "rotate_colour", "double")
    if spec.storage.exact and not spec.storage.temporal and dirac:
        _add(found, "laplace3", "double", links=spec.links, epilogue="axpby", tile=1)
    if operator.reach > 1:
        for name in MADE_LINKS:
            _add(found, name, "double", links="r18")
        for name in ("encode_links", "decode_links"):
            _add(found, name, spec.format.links.name, links="r18")


def _complete_slices(found: Kernels, spec: KernelSpec, rows: list[KernelSpec]) -> None:
    """The fifth dimension, and the Wilson operator on its slices: with links as in its own rows, else 12 reals."""
    wilson = [s for s in rows if s.operator.name == "wilson" and s.basis == spec.basis]
    links = {s.links for s in wilson} or {"r12"}
    for precision in dict.fromkeys((spec.precision, "double")):
        for dagger in (False, True):
            for epilogue in ("none", "axpby"):
                axes: dict[str, object] = {"dagger": dagger, "epilogue": epilogue, "basis": spec.basis}
                _add(found, spec.operator.name, precision, coefficient=spec.coefficient, **axes)
                if any(s.precision == precision for s in wilson):
                    continue
                for storage in sorted(links | ({"r18"} if precision == "double" else set())):
                    _add(found, "wilson", precision, links=storage, tile=1, **axes)


def _complete_formula(found: Kernels, spec: KernelSpec, rows: list[KernelSpec]) -> None:
    """Boundary phases on several ranks."""
    _add(found, "rotate_colour", spec.precision)


_COMPLETE = {"hopping": _complete_hopping, "slices": _complete_slices, "expression": _complete_formula}
"""What operators that methods solve with need beside themselves, by family."""


def _add_methods(found: Kernels, spins: int, precision: str) -> None:
    """Vector updates of the methods that solve for operators on fields of these spins."""
    names: tuple[str, ...] = ITERATIONS
    axes: dict[str, object] = {}
    if spins == 1:
        names, axes = STAGGERED, {"spins": 1}
    elif precision in EVERY_METHOD:
        names = (*COEFFICIENTS, *ITERATIONS, *METHODS, *SHIFTS, *BLOCKS)
    for name in names:
        _add(found, name, precision, **axes)


def _heatbath(rows: list[KernelSpec]) -> Kernels:
    found: Kernels = {}
    for name in ("plaquette", "heatbath", "overrelax"):
        _add(found, name, "double", links="r18")
    return found


def _smear(rows: list[KernelSpec]) -> Kernels:
    found: Kernels = {}
    for name in ("plaquette", *LINK_EXPRESSIONS):
        _add(found, name, "double", links="r18")
    for spec in rows:
        if spec.operator.name == "wilson" and spec.storage.exact and not spec.storage.temporal:
            for name in ("jacobi_step", "wuppertal_step"):
                _add(found, name, "double", links=spec.links, spins=4)
    return found


def _hmc(rows: list[KernelSpec]) -> Kernels:
    found: Kernels = {}
    for name in ("plaquette", *MOLECULAR_DYNAMICS):
        _add(found, name, "double", links="" if name in ("kick", "algebra_norm2") else "r18")
    return found


SETS: dict[str, Callable[[list[KernelSpec]], Kernels]] = {
    "solve": _solve,
    "heatbath": _heatbath,
    "smear": _smear,
    "hmc": _hmc,
}
"""`solve`: operators complete, all methods, conversions, sources; `heatbath`: quenched configurations; `smear`: of
links and quarks, and the gradient flow; `hmc`: molecular dynamics."""


def included(rows: Iterable[KernelSpec], sets: Iterable[str]) -> dict[str, list[KernelSpec]]:
    """By set the kernels that it adds to those of the rows and of the sets before it.

    Raises:
        SpecError: a set is unknown.
    """
    rows = list(rows)
    have = {s.name for s in rows}
    added: dict[str, list[KernelSpec]] = {}
    for name in sets:
        if name not in SETS:
            raise SpecError(f"include = '{name}' is unknown; use some of {', '.join(SETS)}, or [] for the rows alone")
        added[name] = [s for s in SETS[name](rows).values() if s.name not in have]
        have |= {s.name for s in added[name]}
    return added
