"""Statements of actions against dense operators, and what is lowered from each against the statement."""

import re

import numpy as np
import pytest
from lattice import Interpreter
from literature import G5, REFERENCES, spin
from lowered import Machine
from statements import (
    EVERY,
    FURTHER,
    KERNELS,
    OF_HOPS,
    PHASES,
    SLICES,
    WITH_MATRIX,
    read_by,
    spinor_of,
    stated,
    values_of,
    with_made,
)

from generator.actions import ACTIONS
from generator.algebra.gamma import BASES
from generator.language import (
    Fermion,
    Links,
    Matrices,
    Real,
    action,
    adj,
    directions,
    dot,
    gamma,
    gamma5,
    outer,
    parameter,
    shift,
    x,
    y,
)
from generator.lower.adjoint import adjoint
from generator.lower.hopping import same_hops
from generator.lower.paths import along_paths
from generator.lower.record import Refused, lower, try_lower
from generator.operators import OPERATORS, RECORDS
from generator.served import operators_of


def inputs(name):
    record = EVERY[name]
    return read_by(record.action), spinor_of(record, 7), values_of(record.action)


@pytest.mark.parametrize("name", REFERENCES)
def test_a_statement_is_the_operator_of_the_literature(name):
    """Catches any sign, factor, direction or matrix of a statement: the other side is in literature.py alone."""
    fields, psi, values = inputs(name)
    expected = REFERENCES[name](fields, psi, {"xi0": 1, "nu": 1} | values)
    assert np.allclose(stated(ACTIONS[name], fields, psi, values), expected, atol=1e-12)


@pytest.mark.parametrize("name", WITH_MATRIX)
def test_the_adjoint_of_a_formula_is_that_of_its_operator(name):
    fields, psi, values = inputs(name)
    fermion, matrix, phi = EVERY[name].action.fermion, EVERY[name].action.matrix, spinor_of(EVERY[name], 8)
    apply = lambda graph, v: Interpreter(psi.shape[:4], fields | {fermion: v}, values, PHASES)(graph)  # noqa: E731
    conjugate = adjoint(matrix, fermion)
    left, right = np.vdot(phi, apply(matrix, psi)), np.vdot(apply(conjugate, phi), psi)
    assert abs(left - right) < 1e-12 * abs(left)
    for graph in (matrix, conjugate):
        assert np.allclose(apply(along_paths(graph, fermion), psi), apply(graph, psi), atol=1e-12)


@pytest.mark.parametrize("name", WITH_MATRIX)
def test_what_is_lowered_is_what_was_stated(name):
    """Hops, site term, chain along s, fields and launches that kernels are rendered from, or a body, give M psi."""
    fields, psi, values = inputs(name)
    machine = Machine(EVERY[name], fields, values)
    whole = stated(EVERY[name].action, with_made(EVERY[name].action, fields, values), psi, values)
    assert np.allclose(machine.matrix(psi), whole, atol=1e-12)
    if EVERY[name].form is None:
        phi = spinor_of(EVERY[name], 8)
        assert abs(np.vdot(phi, whole) - np.vdot(machine.dagger(phi), psi)) < 1e-12 * np.linalg.norm(whole) * 20


@pytest.mark.parametrize("name", [n for n, r in EVERY.items() if r.negated is not None and n != "moebius"])
def test_gamma5_hermiticity(name):
    """<phi, M psi> = <M' phi, psi> with M' = gamma5 M gamma5, R: s -> Ls - 1 - s; of Moebius up to a matrix along s."""
    fields, psi, values = inputs(name)
    phi = spinor_of(EVERY[name], 8)
    record = EVERY[name]
    flip = {p.name: np.conj(values[p.name]) * (-1) ** (p.name in record.negated) for p in record.action.parameters}
    five = lambda v: spin(G5, v)[..., ::-1, :, :, :] if psi.shape[4] == SLICES else spin(G5, v)  # noqa: E731
    made = with_made(record.action, fields, values)
    left = np.vdot(phi, stated(record.action, made, psi, values))
    right = np.vdot(five(stated(record.action, made, five(phi), values | flip)), psi)
    assert abs(left - right) < 1e-10 * abs(left)


def test_what_is_not_hermitian_up_to_signs_of_parameters_is_known():
    assert {n for n, r in EVERY.items() if r.action.has_matrix and r.action.spins == 4 and r.negated is None} == {
        "yukawa",  # a complex field
        "flavoured_hop",
    }


@pytest.mark.parametrize("basis", BASES.values(), ids=lambda b: b.short)
@pytest.mark.parametrize("name", [n for n, r in OF_HOPS.items() if r.action.spins == 4])
def test_printed_spin_matrices_are_those_that_are_emitted(name, basis):
    """`(1 - gamma_x)` is read back, digit by digit."""
    form = OF_HOPS[name].form
    names = {f"gamma_{a}": g for a, g in zip("xyzt", basis.gamma, strict=True)} | {"gamma_5": basis.gamma5}
    for h in form.stated:
        words = re.findall(r"[()+-]|[\w.]+", form.term_text(h.mu, h.sign, length=h.length) or "1")
        printed = ""
        for word in words:  # what stands side by side is multiplied
            number = {"i": "(1j * one)"}.get(word, f"({word} * one)" if word[0].isdigit() else word)
            printed += (" @ " if re.search(r"[\w)]$", printed) and word not in ")+-" else " ") + number
        value = eval(printed.strip(), names | {"one": np.eye(4)})
        assert np.allclose(value, form.spin_matrix(basis, h.mu, h.sign, h.length), atol=1e-5)


@pytest.mark.parametrize("name", WITH_MATRIX)
def test_every_action_has_its_kernels(name):
    """Those of its hops, which actions with the same ones share; of M and M^+ if it is a body."""
    record, kernels = WITH_MATRIX[name], KERNELS
    if record.form is None:
        assert {name, f"{name}_dagger"} <= kernels.keys()
        return
    hopping = [o for o in kernels.values() if o.family == "hopping" and not o.hops_of]
    assert len([o for o in hopping if same_hops(o.form, record.form)]) == 1
    if name in RECORDS:
        assert operators_of(record)[0][0].name in {o.name for o in hopping}
    if record.form.has_slices:
        assert any(o.family == "slices" for o in kernels.values())


def test_actions_share_kernels_of_equal_hops():
    owners = {name: operators_of(r)[0][0].name for name, r in RECORDS.items() if r.form is not None}
    assert {owners[n] for n in ("clover", "twisted_clover_doublet", "moebius", "domain_wall")} == {"wilson"}
    assert {owners[n] for n in ("asqtad", "hisq")} == {"improved_staggered"}
    assert OPERATORS["naive"].hops_of is None and OPERATORS["domain_wall"].family == "slices"


def test_shapes_follow_from_statements():
    """What is no even-odd hop is a body, and says why; what stands at a site may be any constant matrix."""
    assert {n for n, r in EVERY.items() if r.matrix is not None} >= {"two_hop", "yukawa", "flavoured_hop", "d234"}
    assert "two_hop: hops go over 2 sites" in FURTHER["two_hop"].why
    assert FURTHER["borici_creutz"].site.is_general and FURTHER["isospin"].site.is_general
    assert FURTHER["exponential_clover"].site.exponential is not None
    assert FURTHER["charged"].given == {"a": "phases"} and FURTHER["yukawa"].given == {
        "phi": "scalars",
        "m": "matrices",
    }
    assert FURTHER["condensate"].form is None and not FURTHER["condensate"].launches
    assert FURTHER["slinc"].links == {1: "v"} and FURTHER["slinc"].groups == {"v": "SU(3)"}
    assert FURTHER["charged"].groups == {"links1": "U(3)"} and FURTHER["charged"].turns_in_su3("links1")
    assert not FURTHER["colour_laplace"].form.anti_hermitian


def vector(number):
    @action
    class Vector:
        def dirac(self, u: Links, psi: Fermion) -> Fermion:
            hops = sum(gamma[mu] * (u[mu] * shift(psi, +mu) - shift(adj(u[mu]) * psi, -mu)) for mu in directions)
            return hops / 2 + number * (gamma[x] * psi)

    return lower(Vector.action)


def test_a_matrix_at_the_site_is_part_of_the_record():
    record = vector(0.3)
    assert record.form.formula.startswith(
        "D psi(x) = sum_mu gamma_mu U_mu(x) psi(x+mu) - gamma_mu U_mu(x-mu)^+ psi(x-mu)"
    )
    assert np.allclose(record.site.matrix({}), 0.3 * np.kron(np.eye(2), BASES["degrand_rossi"].gamma[0]))


WRONG = [
    (lambda u, m, psi: gamma5 * psi * psi, "cannot multiply a spinor by a spinor"),
    (lambda u, m, psi: shift(psi, +x) * 2 + u[x] * u[y], "cannot add"),
    (lambda u, m, psi: u[x] * psi + dot(psi, psi) * psi, "is not linear in psi"),
    (lambda u, m, psi: outer(psi, psi) * (gamma[x] * psi), "is not linear in psi"),
    (lambda u, m, psi: psi if m == 0 else 2 * psi, "m == 0: .* no condition can depend on one"),
    (lambda u, m, psi: u * psi, "u with psi: an operand is neither"),
    (lambda u, m, psi: 10**400 * psi, "no double can hold it"),
    (lambda u, m, psi: {}[0] * psi, "KeyError: 0"),
]


@pytest.mark.parametrize(("formula", "message"), WRONG)
def test_what_means_nothing_is_refused_at_its_line(formula, message):
    @action
    class Meaningless:
        mass: Real = parameter(help="mass")

        def dirac(self, m: Matrices, u: Links, psi: Fermion) -> Fermion:
            return formula(u, m, psi)

    refused = try_lower(Meaningless.action)
    assert isinstance(refused, Refused)
    line = formula.__code__.co_firstlineno
    assert re.search(rf"test_actions.py:{line}: .*{message}", str(refused))
