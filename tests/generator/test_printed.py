"""Printed formulas are read and evaluated: a sign that is printed wrongly is caught, wherever it is printed."""

import re

import numpy as np
import pytest
from literature import G5, G, clover_term
from lowered import Machine
from printed import Field, Op, hops, in_the_language, on_spin, read
from statements import EVERY, FURTHER, KERNELS, OF_HOPS, PHASES, read_by, spinor_of, stated, values_of, with_made
from tree import ROOT

from generator.algebra.gamma import BASES
from generator.emit.words import MOST_CHARACTERS, formula
from generator.explain import explain_kernel
from generator.operators import OPERATORS
from generator.profile import load_profile

SHAPED = [
    n
    for n, r in OF_HOPS.items()
    if r.action.parameters and len(formula(r)) < MOST_CHARACTERS and "D psi(x) = sum" in r.form.formula
    if "; V = " not in formula(r) and not r.site.exponential  # which is in the notation of the language
]
HOPPING = [n for n, o in OPERATORS.items() if o.family == "hopping" and not o.hops_of and EVERY[n].action.parameters]


def field_of(name, gamma=G):
    action = EVERY[name].action
    return Field(spinor_of(EVERY[name], 7), read_by(action), list(gamma), values_of(action), PHASES)


def meant(name, field, **others):
    """M psi."""
    return stated(EVERY[name].action, field.links, field.psi, field.parameters | others)


def eta_of(record):
    """Coordinates whose sum's parity is the sign of hops along each direction."""
    return {"xyzt"[mu]: record.form.phase(mu) for mu in record.form.directions}


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


def value_of(text, field, record):
    """M psi of the whole line."""
    site, factor, after = re.fullmatch(r"M psi = (.*?) psi ([-+] [\d.]* ?)D (\(.*\) )?psi(?=; D psi).*", text).groups()
    names = {"CLOVER": clover(text, field)}
    if "R psi_s" in text:
        names["R"] = Op(around(text, field))
    row = re.search(r"; D psi\(x\) = ([^;]*)", text)[1]
    moved = read(after or "1", field, more=names) * field.psi
    hopped = Field(moved, field.links, field.gamma, field.parameters, PHASES)
    d_psi = hops(row, hopped, eta_of(record), weights(text, field))
    t = read(site.replace("sum_{mu<nu} c_munu sigma_munu F_munu", "CLOVER"), field, more=names)
    return t * field.psi + read(factor.replace(" ", "") + ("" if factor[2:] else "1"), field).number * d_psi


@pytest.mark.parametrize("name", SHAPED)
def test_the_printed_formula_of_an_action_is_its_operator(name):
    """As `quarksmith` records it, and as its help has it: site term, hops, their numbers, walls."""
    field = field_of(name)
    action = EVERY[name].action
    made = with_made(action, field.links, field.parameters)  # which a formula may write out
    field.links.update({n: made[n] for n in action.links})
    given = value_of(formula(EVERY[name]), field, EVERY[name])
    assert np.allclose(given, meant(name, field), atol=1e-5 if name in FURTHER else 1e-12)


@pytest.mark.parametrize("sign", [(" psi - 0.5 D", " psi + 0.5 D"), ("(1 - gamma_mu)", "(1 + gamma_mu)"),
                                  ("+ i mu", "- i mu"), ("- (1/2) sum", "+ (1/2) sum")])  # fmt: skip
def test_a_sign_that_is_printed_wrongly_is_seen(sign):
    """The reader itself: it must not take one formula for another."""
    field = field_of("twisted_clover")
    text = formula(EVERY["twisted_clover"])
    assert sign[0] in text
    given = value_of(text.replace(*sign), field, EVERY["twisted_clover"])
    assert not np.allclose(given, meant("twisted_clover", field), atol=1e-3)


BODIES_OF = [n for n, r in EVERY.items() if r.matrix is not None and set(r.read) <= {f.name for f in r.action.fields}]


@pytest.mark.parametrize("name", [n for name in BODIES_OF for n in (name, f"{name}_dagger")])
def test_the_printed_formula_of_what_has_no_other_shape_is_its_operator(name):
    """As it heads the body, and as the tests of kernels read it; that of M^+ by <phi, M psi> = <M^+ phi, psi>."""
    plain = name.removesuffix("_dagger")
    field = field_of(plain)
    numbers = Machine(EVERY[plain], field.links, field.parameters).numbers
    given = in_the_language(KERNELS[name].formula, field, numbers)
    if plain == name:
        assert np.allclose(given, meant(plain, field), atol=1e-12)
        return
    phi = np.random.default_rng(5).normal(size=field.psi.shape) + 0j
    left = np.vdot(phi, given)
    right = np.vdot(stated(EVERY[plain].action, field.links, phi, field.parameters), field.psi)
    assert abs(left - right) < 1e-12 * abs(left)


def hopping_term(name, field):
    """D psi, with no other numbers in hops than those of D."""
    return Machine(EVERY[name], field.links, field.parameters).hops(field.psi, plain=True)


@pytest.mark.parametrize("name", HOPPING)
def test_bodies_explanations_and_documents_print_the_hops_that_are_meant(name):
    field, record = field_of(name), EVERY[name]
    d_psi, eta = hopping_term(name, field), eta_of(record)
    printed = OPERATORS[name].formula
    assert np.allclose(hops(printed.removeprefix("D psi(x) = "), field, eta), d_psi, atol=1e-12)
    for spec in [k for k in load_profile("default").kernels if k.operator.name == name][:1]:
        assert printed in explain_kernel(spec)
        bodies = (ROOT / "generated/bodies").glob(f"{name}*.hpp")
        assert any(f"// {printed}" in b.read_text() for b in bodies)
    documents = [p.read_text() for p in (ROOT / "docs").glob("*.md")]
    if name == "improved_staggered":
        shown = [f for text in documents for f in re.findall(r"D psi\(x\) = (sum_mu [^|\n]*\])", text) if "F_mu" in f]
        assert shown
        assert all(np.allclose(hops(f, field, eta), d_psi, atol=1e-12) for f in shown)
    if name in ("wilson", "staggered"):
        assert any(printed in text for text in documents)


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
    given = sum(read(t, field, eta_of(EVERY[name])) for t in terms)
    # The same in the basis of the literature's side: psi = V psi', V from the elements of both bases.
    turn = Op.of(1) if field.psi.shape[6] == 1 else on_spin(turned(basis))
    back = Op.of(1) if field.psi.shape[6] == 1 else on_spin(np.linalg.inv(turned(basis)))
    meant = Field(turn * field.psi, field.links, list(G), field.parameters, PHASES)
    if "_dagger" not in path.stem:
        assert np.allclose(given, back * hopping_term(name, meant), atol=1e-12)
        return
    phi = np.random.default_rng(5).normal(size=field.psi.shape) + 0j
    other = Field(turn * phi, field.links, list(G), field.parameters, PHASES)
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
