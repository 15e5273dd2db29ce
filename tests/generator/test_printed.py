"""Printed formulas are read and evaluated: a sign that is printed wrongly is caught, wherever it is printed."""

import re
from pathlib import Path

import numpy as np
import pytest
from printed import Field, Op, hops, in_the_language, on_spin, read
from test_actions import G5, PARAMETERS, PHASES, G, clover_term, expected, inputs

from generator.actions import ACTIONS
from generator.algebra.gamma import BASES
from generator.emit.action_table import action_row
from generator.explain import explain_kernel
from generator.lower.fifth import FifthForm
from generator.operators import OPERATORS
from generator.profile import load_profile

ROOT = Path(__file__).parents[2]
SPACE_FIRST = {"x": (), "y": (0,), "z": (0, 1), "t": (0, 1, 2)}
TIME_FIRST = {"x": (3,), "y": (3, 0), "z": (3, 0, 1), "t": ()}
SHAPED = [n for n, a in ACTIONS.items() if a.parameters and FifthForm(a).has_shape]
HOPPING = [n for n, o in OPERATORS.items() if o.family == "hopping" and not o.hops_of and "laplace" not in n]


def field_of(name, gamma=G):
    links, psi = inputs(name)
    return Field(psi, links, list(gamma), PARAMETERS, PHASES)


def eta_of(text):
    """Staggered phases of an action: those of fat and long links have time first (docs/conventions.md)."""
    return TIME_FIRST if "F_" in text else SPACE_FIRST


def weights(text, field):
    """Of hops: what `hops along x, y times nu/xi0` says."""
    found = {}
    for axes, number in re.findall(r"; hops along ([-+xyzt, ]+) times ([^;]+)", text):
        for way in axes.split(", "):
            for sign in (1, -1) if way[0] not in "+-" else (1 if way[0] == "+" else -1,):
                found[way[-1], sign] = read(number, field).number
    return lambda axis, sign: found.get((axis, sign), 1)


def around(text, field):
    """R of `R psi_s = P_- psi_{s+1} + P_+ psi_{s-1}, -mass times what comes from beyond the ends`."""
    row, wall = re.search(r"R psi_s = (.*), (\S+) times what comes from beyond the ends", text).groups()
    wall = read(wall, field).number

    def r(f):
        result = 0
        for sign, spin, step in re.findall(r"(-?)\s*P_([+-]) psi_\{s([+-])1\}", row):
            moved = np.roll(f, -1 if step == "+" else 1, axis=4)
            moved[:, :, :, :, -1 if step == "+" else 0] *= wall
            projector = on_spin((np.eye(4) + (1 if spin == "+" else -1) * G5) / 2)
            result = result + (-1 if sign else 1) * projector.act(moved)
        return result

    return r


def clover(text, field):
    """sum_{mu<nu} c_munu sigma_munu F_munu, -2 times the clover term of M, with `c = A in space, B in time`."""
    found = re.search(r"; c = (.*) in space, (.*) in time", text)
    space, time = (read(c, field).number for c in found.groups()) if found else (0, 0)
    return Op(lambda f: -2 * clover_term(field.links["u"], f, space, time))


def value_of(text, field):
    """M psi of the whole line."""
    site, factor, after = re.fullmatch(r"M psi = (.*?) psi ([-+] [\d.]* ?)D (\(.*\) )?psi(?=; D psi).*", text).groups()
    names = {"CLOVER": clover(text, field)}
    if "R psi_s" in text:
        names["R"] = Op(around(text, field))
    row = re.search(r"; D psi\(x\) = ([^;]*)", text)[1]
    hopped = Field(read(after or "1", field, more=names) * field.psi, field.links, field.gamma, PARAMETERS, PHASES)
    d_psi = hops(row, hopped, eta_of(row), weights(text, field))
    t = read(site.replace("sum_{mu<nu} c_munu sigma_munu F_munu", "CLOVER"), field, more=names)
    return t * field.psi + read(factor.replace(" ", "") + ("" if factor[2:] else "1"), field).number * d_psi


@pytest.mark.parametrize("name", SHAPED)
def test_the_printed_formula_of_an_action_is_the_operator_of_the_literature(name):
    """As `quarksmith` records it, and as its help has it: site term, hops, their numbers, walls."""
    field = field_of(name)
    text = re.sub(r'"\s+"', "", action_row(ACTIONS[name])["formula"])
    given = value_of(text, field)
    assert np.allclose(given, expected(name, field.links, field.psi, PARAMETERS), atol=1e-12)


@pytest.mark.parametrize("sign", [(" psi - 0.5 D", " psi + 0.5 D"), ("(1 - gamma_mu)", "(1 + gamma_mu)"),
                                  ("+ i mu", "- i mu"), ("- (1/2) sum", "+ (1/2) sum")])  # fmt: skip
def test_a_sign_that_is_printed_wrongly_is_seen(sign):
    """The reader itself: it must not take one formula for another."""
    field = field_of("twisted_clover")
    text = re.sub(r'"\s+"', "", action_row(ACTIONS["twisted_clover"])["formula"])
    assert sign[0] in text
    given = value_of(text.replace(*sign), field)
    assert not np.allclose(given, expected("twisted_clover", field.links, field.psi, PARAMETERS), atol=1e-3)


@pytest.mark.parametrize("name", [n for n in OPERATORS if n.removesuffix("_dagger") in ("d234", "brillouin")])
def test_the_printed_formula_of_what_has_no_other_shape_is_the_operator_of_the_literature(name):
    """As it heads the body, and as the tests of kernels read it; that of M^+ by <phi, M psi> = <M^+ phi, psi>."""
    plain = name.removesuffix("_dagger")
    field = field_of(plain)
    given = in_the_language(OPERATORS[name].formula, field)
    if plain == name:
        assert np.allclose(given, expected(plain, field.links, field.psi, PARAMETERS), atol=1e-12)
        return
    phi = np.random.default_rng(5).normal(size=field.psi.shape) + 0j
    left = np.vdot(phi, given)
    right = np.vdot(expected(plain, field.links, phi, PARAMETERS), field.psi)
    assert abs(left - right) < 1e-12 * abs(left)


def hopping_term(name, field):
    """D psi, from M psi of the literature, with no other numbers in hops than those of D."""
    p = PARAMETERS | {"nu": 1.0, "xi0": 1.0, "mu": 0.0}
    shift = {"wilson": p["mass"] + 4, "naive": p["mass"]}.get(name, 2 * p["mass"])
    rest = expected(name, field.links, field.psi, p) - shift * field.psi
    return {"wilson": -2, "naive": 2}.get(name, 1) * rest


@pytest.mark.parametrize("name", HOPPING)
def test_bodies_explanations_and_documents_print_the_hops_that_are_meant(name):
    field = field_of(name)
    d_psi = hopping_term(name, field)
    formula = OPERATORS[name].formula
    assert np.allclose(hops(formula.removeprefix("D psi(x) = "), field, eta_of(formula)), d_psi, atol=1e-12)
    spec = next(k for k in load_profile("default").kernels if k.operator.name == name)
    assert formula in explain_kernel(spec)
    bodies = [b for b in (ROOT / "generated/bodies").glob(f"{name}*.hpp") if f"// {formula}" in b.read_text()]
    assert bodies
    documents = [p.read_text() for p in (ROOT / "docs").glob("*.md")]
    shown = [f for text in documents for f in re.findall(r"D psi\(x\) = (sum_mu [^|\n]*\])", text)]
    if name == "improved_staggered":
        written = [f for f in shown if "F_mu" in f]
        assert written
        assert all(np.allclose(hops(f, field, eta_of(f)), d_psi, atol=1e-12) for f in written)
    else:
        assert any(formula in text for text in documents) or name == "naive"


BODIES = {
    path.stem: name
    for path in sorted((ROOT / "generated/bodies").glob("*.hpp"))
    for name in HOPPING
    if re.fullmatch(rf"{name}(_dagger)?(_(dr|nr|rotated|nr_tfirst))?", path.stem)
}


@pytest.mark.parametrize(("stem", "name"), BODIES.items())
def test_the_comments_of_a_body_are_its_hops(stem, name):
    """Each hop has its term beside it; M^+ has that of the opposite hop."""
    path = ROOT / f"generated/bodies/{stem}.hpp"
    text = path.read_text()
    short = path.stem.removeprefix(name).removeprefix("_dagger").removeprefix("_")
    basis = next((b for b in BASES.values() if b.short == short), None) or BASES["degrand_rossi"]
    terms = dict.fromkeys(re.findall(r"// (\S.*psi\(x[+-]\d?e\w\))$", text, re.M))
    field = field_of(name, basis.gamma)
    given = sum(read(t, field, eta_of(" ".join(terms))) for t in terms)
    # The same in the basis of the literature's side: psi = V psi', V from the elements of both bases.
    turn = Op.of(1) if field.psi.shape[6] == 1 else on_spin(turned(basis))
    back = Op.of(1) if field.psi.shape[6] == 1 else on_spin(np.linalg.inv(turned(basis)))
    meant = Field(turn * field.psi, field.links, list(G), PARAMETERS, PHASES)
    if "_dagger" not in path.stem:
        assert np.allclose(given, back * hopping_term(name, meant), atol=1e-12)
        return
    phi = np.random.default_rng(5).normal(size=field.psi.shape) + 0j
    other = Field(turn * phi, field.links, list(G), PARAMETERS, PHASES)
    left, right = np.vdot(phi, given), np.vdot(back * hopping_term(name, other), field.psi)
    assert abs(left - right) < 1e-12 * abs(left)


def turned(basis):
    """V with V gamma V^-1 that of degrand_rossi: the one matrix that commutes in this sense (Schur)."""
    seed = np.random.default_rng(1).normal(size=(4, 4))
    group = [np.eye(4)], [np.eye(4)]
    for a, b in zip(G, basis.gamma, strict=True):
        group = group[0] + [m @ a for m in group[0]], group[1] + [m @ b for m in group[1]]
    v = sum(a @ seed @ np.linalg.inv(b) for a, b in zip(*group, strict=True))
    return v * 2 / np.sqrt(np.trace(v @ v.conj().T).real)
