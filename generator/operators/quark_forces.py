"""Forces of quarks, derived from the records of actions (docs/forces.md).

For H = sum -tr P^2 + S and U' = exp(eps P) U an action with dS = sum Re tr(dU G) gives dP/dtau = [U G]_TA / 2. Here S
is -2 Re chi^+ M psi for given chi and psi. Of links that are no links of a configuration half the derivative is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, reduce

from ..errors import ExpressionError
from ..language import Matrices, Spinor, directions, dot, expression, re, shift, x
from ..language.formula import Definition, Formula, parameter_symbol
from ..language.graph import Direction, Node, constant, make
from ..language.symbols import Four, adj, sign
from ..language.walks import fields_of, parts
from ..lower.derivative import derivative, pulled_back
from ..lower.hopping import HoppingForm, StatedHop
from ..lower.paths import PathFields, along_paths, path_fields
from ..lower.record import Lowered
from .derived import added, kicked
from .expression import Expression
from .schedule import LONG

MOST_HOPS = 64
"""Hops of a formula in Horner's form for which a kernel may hold its force: compilers take minutes for more."""


@expression
def turn_colour(g: Matrices, psi: Spinor) -> Spinor:
    """A matrix of each site, g[x], times the field: boundary phases of fields of one colour vector on several ranks."""
    return g[x] * psi


# --- hops, whatever multiplies them: one number for each direction, two where there and back differ


def weight_name(mu: int, sign: int = 1) -> str:
    """The number that multiplies hops along a direction."""
    return ("forward_" if sign > 0 else "backward_") + "xyzt"[mu]


def hop_numbers(form: HoppingForm) -> list[str]:
    """The numbers of the force of hops, in their order: forward ones, then backward ones that differ."""
    return [weight_name(mu) for mu in form.directions] + [weight_name(mu, -1) for mu in form.directed]


def _hop(form: HoppingForm, hop: StatedHop, field: str, psi: Node) -> Node:
    """The term of D for one neighbour."""
    mu = directions[hop.mu]
    link, step = Four(field)[mu], hop.length * mu
    moved = link * shift(psi, step) if hop.sign > 0 else shift(adj(link) * psi, -step)
    spin: Node | None = None
    for t in hop.terms:
        factor = t.factor / form.factor
        term = reduce(lambda a, b: a * b, t.spin) if t.spin else None
        number = factor if factor.imag else factor.real
        part = constant(number) if term is None else number * term
        spin = part if spin is None else spin + part
    assert spin is not None
    if hop.phase:
        moved = sign(*(directions[nu] for nu in hop.phase)) * moved
    towards = -1 if hop.sign < 0 and hop.mu in form.directed else 1
    return parameter_symbol(weight_name(hop.mu, towards)) * (spin * moved)


def _functional(linear: Node, chi: str = "chi") -> Node:
    return -2.0 * re(dot(make("load", "spinor", (), chi), linear))


def _hop_functional(form: HoppingForm) -> tuple[Node, list[str]]:
    """-2 Re chi^+ D psi, and the link fields in it, those of the shortest hops first."""
    fields = {n: "u" if n == 1 else "long" for n in form.lengths}
    psi = make("load", "spinor", (), "psi")
    terms = [_hop(form, h, fields[h.length], psi) for h in form.stated]
    return _functional(reduce(lambda a, b: a + b, terms)), list(fields.values())


_SPINORS = (("psi", "fermion"), ("chi", "fermion"))


def hop_force(name: str, form: HoppingForm) -> Expression:
    """P + dP/dtau of hops over links u that molecular dynamics moves."""

    def make_definition() -> Definition:
        functional, _ = _hop_functional(form)
        results = (kicked(Four("u"), derivative(functional, "u")),)
        inputs = (("u", "links"), *_SPINORS, ("p", "algebra"), *((n, "real") for n in hop_numbers(form)))
        text = "out = p + dP/dtau of -2 Re chi^+ D psi; hops are multiplied by the numbers of their directions"
        return Definition(f"force_{name}", form.action.place, text, inputs, (("out", "algebra"),), results)

    return Expression(Formula(f"force_{name}", make_definition), LONG)


def hop_derivative(name: str, form: HoppingForm) -> Expression:
    """Half the derivatives of the same by any links, added up."""

    def make_definition() -> Definition:
        functional, fields = _hop_functional(form)
        results = tuple(_carried(f"by_{f}", derivative(functional, f)) for f in fields)
        before = tuple((f"by_{f}", "matrices") for f in fields)
        inputs = (*_SPINORS, *before, *((n, "real") for n in hop_numbers(form)))
        outputs = tuple((f"{f}_out", "matrices") for f in fields)
        text = "out = by + half the derivative of -2 Re chi^+ D psi by the links of hops"
        return Definition(f"derivative_{name}", form.action.place, text, inputs, outputs, results)

    return Expression(Formula(f"derivative_{name}", make_definition), LONG)


def _carried(before: str, derivatives: Mapping[Direction, Node], weight: Node | None = None) -> dict[Direction, Node]:
    return {mu: added(Four(before)[mu], derivatives.get(mu), weight) for mu in directions}


# --- general bodies


def body_fields(record: Lowered) -> list[str]:
    """The fields of a general body through which its force reaches the links of a configuration."""
    return [name for name in record.read if name in record.moving]


def body_force(record: Lowered) -> Expression:
    """P + weight dP/dtau by the links of a configuration in M, and half the derivatives by fields made of them."""
    name = f"force_{record.name}"

    def make_definition() -> Definition:
        assert record.matrix is not None and record.numbers is not None
        chi, momenta, weight = map(record.free_name, ("chi", "p", "weight"))
        functional = _functional(along_paths(record.matrix, record.action.fermion), chi)
        results, before, outputs = [], [], []
        for field in body_fields(record):
            derivatives = pulled_back([(functional, constant(1.0))], field)
            if field == record.gauge:
                results.append(kicked(Four(field), derivatives, parameter_symbol(weight), Four(momenta, algebra=True)))
                before.append((momenta, "algebra"))
                outputs.append((record.free_name("out"), "algebra"))
            else:
                by = record.free_name(f"by_{field}")
                results.append(_carried(by, derivatives, parameter_symbol(weight)))
                before.append((by, "matrices"))
                outputs.append((record.free_name(f"{field}_out"), "matrices"))
        spinors = ((record.action.fermion, "fermion"), (chi, "fermion"))
        inputs = (*_read(results, record), *spinors, *before, (weight, "real"), *_numbers(results, record))
        text = f"out = p + weight dP/dtau of -2 Re chi^+ M psi of {record.name}"
        return Definition(name, record.action.place, text, inputs, tuple(outputs), tuple(results))

    fields = [f for f in body_fields(record) if f != record.gauge]
    in_place = [(record.free_name(f"{f}_out"), record.free_name(f"by_{f}")) for f in fields]
    in_place += [(record.free_name("out"), record.free_name("p"))] * (len(fields) < len(body_fields(record)))
    return Expression(Formula(name, make_definition), LONG, record.flavours, tuple(in_place))


def _nodes(results: Sequence[Mapping[Direction, Node]]) -> list[Node]:
    return parts([v for result in results for v in result.values()])


def _read(results: Sequence[Mapping[Direction, Node]], record: Lowered) -> list[tuple[str, str]]:
    """Fields of the statement that the force reads."""
    found = fields_of([v for result in results for v in result.values()])
    return [(n, record.fields[n]) for n in found if n in record.fields]


def _numbers(results: Sequence[Mapping[Direction, Node]], record: Lowered) -> list[tuple[str, str]]:
    found = {n.data: n.kind for n in _nodes(results) if n.op == "parameter"}
    return [(name, found[name]) for name in record.numbers or () if name in found]


@cache
def force_paths(record: Lowered) -> PathFields | None:
    """The paths of a formula that is too long for a kernel of its force, which goes along them step by step."""
    if record.matrix is None or record.flavours > 1 or record.read != (record.gauge,):
        return None
    hops = sum(n.op == "shift" for n in parts([along_paths(record.matrix, record.action.fermion)]))
    if hops <= MOST_HOPS:
        return None
    try:
        return path_fields(record.matrix, record.action.fermion)
    except ExpressionError:  # its numbers or spins are none of those of paths: a long kernel then
        return None
