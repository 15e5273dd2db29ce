"""What a profile gets besides its rows: kernels without which solvers, conversions and commands cannot use those.

Each set follows from what the rows ask for: their precisions, links, bases, spins and site terms. A row with
`include = false` takes no part: it is built for tests or comparisons, and no solver asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from .algebra.gamma import DEGRAND_ROSSI, find_basis
from .algebra.su3 import like
from .epilogue import EPILOGUES
from .errors import SpecError
from .lower.record import Lowered
from .operators import OPERATORS, RECORDS, UNPRINTED, kernel, names_of
from .operators.blas import UPDATES
from .operators.blocks import pattern_of
from .operators.coarse import COARSE_KERNELS, PACKED
from .operators.contractions import BARYONS, SEQUENTIAL
from .operators.programs import back_names, forward_names
from .operators.quark_forces import body_fields, force_paths
from .served import served
from .spec import KernelSpec

COEFFICIENTS = ("scale", "axpby", "caxpby", "norm2", "cdot", "residual")
"""Updates whose coefficients come with the call."""


def _updates(*prefixes: str) -> tuple[str, ...]:
    return tuple(u.name for u in UPDATES if u.name.startswith(prefixes))


CONJUGATE_GRADIENTS = ("measure", "advance", "add_correction", "round_correction", *_updates("cg_"))
BICGSTAB_L = _updates("bicgstab_l_")
ITERATIONS = (*CONJUGATE_GRADIENTS, *(name for name in _updates("bicgstab_") if name not in BICGSTAB_L))
"""Coefficients on the device: conjugate gradients and BiCGstab."""
METHODS = (*_updates("cgne_", "mr_", "gcr_"), *BICGSTAB_L)
"""Vector updates of methods other than CG and BiCGstab."""
SHIFTS = _updates("hermitian_", "shift_")
"""Vector updates of conjugate gradients for many shifts."""
BLOCKS = ("block_dot", "block_product", "block_update")
"""Conjugate gradients with a block of right-hand sides."""
MULTIGRID = ("double", "single")
"""Precisions of the levels of multigrid."""
SMOOTHING = {"single": ("add_difference",), "half": ("add_difference", "widen")}
"""Vector updates of the smoothers of multigrid."""
STAGGERED = (*COEFFICIENTS, *CONJUGATE_GRADIENTS, *SHIFTS, *BLOCKS)
"""Vector updates for staggered quarks: one colour vector a site, conjugate gradients of a Hermitian operator."""
EVERY_METHOD = ("double", "single", "half")
"""Precisions in which all methods run; in the others those of ITERATIONS do, inside mixed precision."""
LINK_EXPRESSIONS = (
    *("stout3_step", "stout4_step", "ape3_step", "ape4_step", "set_staple", "add_staple", "hyp_link"),
    *("force_plaquettes", "kick", "move_links", "flow_difference", "plaquette_energy", "clover_energy"),
    *names_of("gauge_fixing", "loops"),
)
CORRELATORS = ("mesons", "proton", "to_degrand_rossi", "from_degrand_rossi", "staggered_mesons")
CONTRACTIONS = ("bilinears", "loops", "turned_propagator", "staggered_nucleon", *BARYONS, *SEQUENTIAL)
"""Correlators of `propagator`, and what `measure` has besides."""
MOLECULAR_DYNAMICS = names_of("molecular_dynamics", "gauge_forces")
FORCES = ("force_link", "derivative_of_force", "add_matrices")
"""Where the way back through fields that statements make ends and begins."""
PATHS = ("path_end", "path_ahead", "path_behind", "force_path")
"""The force of formulas that are too long for one kernel."""
WORKING_BASIS = "non_relativistic"
"""Gamma basis of spinors in molecular dynamics."""

Kernels = dict[str, KernelSpec]


def _add(found: Kernels, operator: str, precision: str, **axes: object) -> None:
    spec = kernel(operator, precision, **axes)
    found.setdefault(spec.name, spec)


def _add_plain(found: Kernels, operator: str, spins: int = 4) -> None:
    """A kernel in double, as molecular dynamics and what makes links take it."""
    if operator not in UNPRINTED:
        axes = {"links": "r18", "basis": find_basis(WORKING_BASIS), "spins": spins}
        _add(found, operator, "double", **{a: v for a, v in axes.items() if a in OPERATORS[operator].axes})


def support(spec: KernelSpec) -> list[KernelSpec]:
    """Kernels that bring the fields of one to the device and back."""
    operator, links = spec.operator, spec.format.links.name
    found: Kernels = {}
    if operator.family in ("hopping", "update", "block", "term", "slices") or spec.spins:
        for name in ("import", "export"):
            for precision in dict.fromkeys((spec.precision, spec.format.computed.name)):
                _add(found, name, precision, spins=spec.colour_vectors)
    expression = operator.family == "expression" and spec.format.bits >= 32
    for name in ("encode_links", "decode_links"):
        _add(found, name, "double", links="r18")
        for storage in sorted({spec.links, *(("r18",) if expression else ()), *operator.more_storages(spec)} - {""}):
            _add(found, name, links, links=storage)
    for record in served(operator) if operator.family == "expression" else ():
        _add_given(found, record, links)
    if operator.family == "term" or operator.stored_terms(spec):
        _add(found, "invert_term", "double")
        _add(found, "invert_twisted_term", "double")
        for name in ("encode_term", "decode_term"):
            _add(found, name, links)
    return list(found.values())


def _add_given(found: Kernels, record: Lowered, precision: str) -> None:
    """Adds the kernels that bring the numbers of sites that an action is given to the device."""
    for stored in {"double", precision} if set(record.given.values()) & {"scalars", "phases"} else ():
        _add(found, "encode_links", stored, links="c1r2")


def _add_made(found: Kernels, record: Lowered, precision: str) -> None:
    """Adds the kernels that make the fields of a statement and its site term."""
    for name in forward_names(record.launches):
        _add_plain(found, name)
    if any("project_u3(" in launch.core.formula for launch in record.launches):
        _add_plain(found, "off_unitarity")
    if record.links is not None and set(record.links.values()) & set(record.graphs.made):
        for name in ("matrices_norm2", "set_links"):
            _add_plain(found, name)
    _add_given(found, record, precision)
    if pattern := pattern_of(record):
        _add_plain(found, f"term_{pattern.name}")
    if record.site is not None and record.site.exponential is not None:
        _add_plain(found, "exp_term")


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
    used = list({s.name: s for s in used}.values())
    for spec in used:
        for needed in support(spec) if spec.operator.family in USED else ():
            if not _stored_as_computed(needed):
                found.setdefault(needed.name, needed)
    for spec in {(*_vectors(s), s.precision, s.basis): s for s in used if s.operator.is_dirac}.values():
        _add_methods(found, spec)
    return _contractions(CORRELATORS, rows) | found


USED = ("hopping", "slices", "expression")
"""Families whose fields callers bring to the device."""


def _complete_hopping(found: Kernels, spec: KernelSpec, rows: list[KernelSpec]) -> None:
    """All forms in which solvers apply an operator, in its precision and in double, where residuals are taken.

    Those of links that fewer reals do not hold to rounding are taken with all 18.
    """
    operator, term = spec.operator, spec.operator.site_term
    dirac = not operator.form.anti_hermitian
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
        for name in ("encode_links", "decode_links"):
            _add(found, name, spec.format.links.name, links="r18")
    for record in served(operator):
        if spec.has_term or not record.stored:
            _add_made(found, record, spec.format.links.name)


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
    """Boundary phases on several ranks, and the fields that its statement makes."""
    if spec.spins == 1:
        _add(found, "turn_colour", spec.precision, spins=1)
    else:
        _add(found, "rotate_colour", spec.precision)
    for record in served(spec.operator):
        _add_made(found, record, spec.format.links.name)


_COMPLETE = {"hopping": _complete_hopping, "slices": _complete_slices, "expression": _complete_formula}
"""Kernels that an operator needs in addition to itself before methods can solve with it, by family."""


def _vectors(spec: KernelSpec) -> tuple[int, bool]:
    """Spins of what methods work on, and whether they solve with a Hermitian operator, M M^+ of D^+ = -D."""
    operator = spec.operator
    return spec.spins or operator.spins, operator.family == "hopping" and operator.form.anti_hermitian


def _add_methods(found: Kernels, spec: KernelSpec) -> None:
    """Vector updates of the methods that solve for an operator, on fields of its spins."""
    names: tuple[str, ...] = ITERATIONS
    spins, hermitian = _vectors(spec)
    if spins == 1:
        names = STAGGERED if hermitian else (*COEFFICIENTS, *ITERATIONS, *SHIFTS)
    elif spec.precision in EVERY_METHOD:
        names = (*COEFFICIENTS, *ITERATIONS, *METHODS, *SHIFTS, *BLOCKS, *SMOOTHING.get(spec.precision, ()))
    for name in names:
        _add(found, name, spec.precision, **({"spins": 1} if spins == 1 else {}))
    if spins == 4 and spec.precision in MULTIGRID and spec.basis is not None:
        _add_multigrid(found, spec)


def _add_multigrid(found: Kernels, spec: KernelSpec) -> None:
    """Kernels of coarse lattices, which have the basis of files; matrices of 16 bits are for single."""
    for coarse in COARSE_KERNELS:
        if "basis" in coarse.axes:
            for basis in (spec.basis, find_basis("degrand_rossi")):
                _add(found, coarse.name, spec.precision, basis=basis)
        elif spec.precision == "single" or not coarse.name.endswith(PACKED):
            _add(found, coarse.name, spec.precision)


def _heatbath(rows: list[KernelSpec]) -> Kernels:
    found: Kernels = {}
    for name in ("plaquette", "heatbath", "overrelax"):
        _add(found, name, "double", links="r18")
    return found


def _smear(rows: list[KernelSpec]) -> Kernels:
    found: Kernels = {}
    for name in ("plaquette", *LINK_EXPRESSIONS):
        _add_plain(found, name)
    for spec in rows:
        if spec.operator.name == "wilson" and spec.storage.exact and not spec.storage.temporal:
            for name in ("jacobi_step", "wuppertal_step", "covariant_derivative"):
                _add(found, name, "double", links=spec.links, spins=4)
    return found


def _hmc(rows: list[KernelSpec]) -> Kernels:
    found: Kernels = {}
    for name in ("plaquette", *MOLECULAR_DYNAMICS, *FORCES, *PATHS):
        _add_plain(found, name)
    for name in ("encode_links", "decode_links"):
        _add(found, name, "double", links="a8")
    for record in RECORDS.values():
        if not record.action.has_matrix:
            _add_back(found, record)
    for spec in rows:
        serves = spec.basis is None or spec.basis.name == WORKING_BASIS
        if spec.operator.is_dirac and spec.precision == "double" and serves:
            for record in served(spec.operator):
                if record.stored and not spec.has_term:
                    continue
                _add_force(found, record, (spec.operator.hops_of or spec.operator).name)
    return found


def _add_back(found: Kernels, record: Lowered) -> None:
    """Adds kernels that make the fields of a statement from links, and those of the derivative."""
    for name in (*forward_names(record.launches), *back_names(record.launches, record.moving, record.gauge)):
        _add_plain(found, name)
    if any("project_u3(" in launch.core.formula for launch in record.launches):
        _add_plain(found, "damped_projections")


def _add_force(found: Kernels, record: Lowered, owner: str) -> None:
    """The force of an action: of its hops or its formula, of its site term, and back to the links."""
    _add_back(found, record)
    spins = record.action.spins
    _add_plain(found, "turn_colour" if spins == 1 else "rotate_colour", spins)  # phases of boundaries on several ranks
    if record.form is not None:
        turns = record.links is not None and all(map(record.turns_in_su3, record.links.values()))
        _add_plain(found, f"{'force' if turns else 'derivative'}_{owner}", spins)
    elif force_paths(record) is None and body_fields(record):
        _add_plain(found, f"force_{record.name}", spins)
    if pattern := pattern_of(record):
        for name in (f"source_{pattern.name}", "add_outer", "add_term"):
            _add_plain(found, name)
    if record.site is not None and record.site.exponential is not None:
        _add_plain(found, "exp_term_adjoint")


def _contractions(names: Iterable[str], rows: list[KernelSpec]) -> Kernels:
    """Contractions of quarks of three colours."""
    found: Kernels = {}
    if any(spec.operator.is_dirac and spec.colours == 3 for spec in rows):
        for name in names:
            axes = {"basis": DEGRAND_ROSSI, "spins": 1 if name.startswith("staggered_") else 4}
            _add(found, name, "double", **{a: v for a, v in axes.items() if a in OPERATORS[name].axes})
    return found


SETS: dict[str, Callable[[list[KernelSpec]], Kernels]] = {
    "solve": _solve,
    "heatbath": _heatbath,
    "smear": _smear,
    "measure": lambda rows: _contractions(CONTRACTIONS, rows),
    "hmc": _hmc,
}
"""`solve`: operators complete, all methods, conversions, sources; `heatbath`: quenched configurations; `smear`: of
links and quarks, and the gradient flow; `measure`: baryons, currents, loops, sequential sources; `hmc`: molecular
dynamics."""


def included(rows: Iterable[KernelSpec], sets: Iterable[str]) -> dict[str, list[KernelSpec]]:
    """The kernels that each set adds to those of the rows and of the sets before it.

    Raises:
        SpecError: a set is unknown.
    """
    rows = list(rows)
    have = {s.name for s in rows}
    added: dict[str, list[KernelSpec]] = {}
    for name in sets:
        if name not in SETS:
            raise SpecError(f"include = '{name}' is unknown; use some of {', '.join(SETS)}, or [] for the rows alone")
        added[name] = []
        for n in sorted({s.colours for s in rows}) or [3]:
            found = (_in_colours(s, n) for s in SETS[name]([s for s in rows if s.colours == n]).values())
            new = {s.name: s for s in found if s is not None and s.name not in have}
            added[name] += new.values()
            have |= new.keys()
    return added


def _in_colours(spec: KernelSpec, n: int) -> KernelSpec | None:
    """A kernel that a set names for three colours, in the colours of the rows; None if there is none."""
    if spec.colours == n:
        return spec
    try:
        return replace(spec, links=like(spec.storage, n).name) if spec.links else replace(spec, colours=n)
    except SpecError:
        return None
