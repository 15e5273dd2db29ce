"""Correlators of `quarksmith measure` against contractions in NumPy of propagators in files."""

import itertools

import numpy as np
import pytest
from descriptions import quarks as made_of
from descriptions import table
from independent import GAMMA, GAMMA5, ahead, hop, ildg_links, on_spins, relative, wilson

h5py = pytest.importorskip("h5py")

EPSILON = np.zeros((3, 3, 3))
for a, b, c in itertools.permutations(range(3)):
    EPSILON[a, b, c] = np.linalg.det(np.eye(3)[[a, b, c]])
UP, DOWN = 0, 1


GAUGE, ORIGIN = "hot:4,2,4,4:3", [1, 1, 3, 1]
MASSES = {"u": 0.2, "d": 0.3, "s": 0.5}


def read(path):
    """S[t, z, y, x, column of the source, sink spin, sink colour], as files have it."""
    with h5py.File(path) as file:
        columns = [file[f"column/{s}/{c}"][:] for s in range(4) for c in range(3)]
    return np.moveaxis(np.array(columns), 0, 4)


def matrices(columns):
    """S[x, y, z, t, sink spin, sink colour, source spin, source colour]."""
    s = columns.reshape(*columns.shape[:4], 4, 3, 4, 3)
    return s.transpose(3, 2, 1, 0, 6, 7, 4, 5)


def dirac(s):
    """In the basis where gamma_t is diagonal."""
    x, _, z, t = GAMMA
    r = (GAMMA5 @ t - np.eye(4)) @ x @ z / np.sqrt(2)
    return np.einsum("ia,...icjd,jb->...acbd", r.conj(), s, r)


def summed(sites, momentum):
    """The sum over space with exp(i p (x - x0)), t from the source."""
    places = np.stack(np.meshgrid(*(np.arange(n) for n in sites.shape[:3]), indexing="ij"), axis=-1)
    angle = 2 * np.pi * ((places - ORIGIN[:3]) * momentum / np.array(sites.shape[:3])).sum(axis=-1)
    return np.roll(np.einsum("xyz,xyzt->t", np.exp(1j * angle), sites), -ORIGIN[3])


def two_point(wave, quarks, momentum, replaced=None):
    """<B Bbar> of sum of w eps_abc q1 q2 q3 (flavour, component), with the signs of Grassmann numbers, by t.

    `replaced` is a flavour and what stands, for one of its quarks after the other, in the place of the propagator.
    """
    total = 0
    for (w, sink), (v, source) in itertools.product(wave, wave):
        for order in itertools.permutations(range(3)):
            if any(sink[k][0] != source[order[k]][0] for k in range(3)):
                continue
            sign = np.linalg.det(np.eye(3)[list(order)])
            ends = "".join("def"[n] for n in order)
            for line in [None] if replaced is None else [k for k in range(3) if sink[k][0] == replaced[0]]:
                lines = [replaced[1] if k == line else quarks[sink[k][0]] for k in range(3)]
                s1, s2, s3 = (lines[k][..., sink[k][1], :, source[order[k]][1], :] for k in range(3))
                total = total + w * v * sign * np.einsum(
                    f"abc,def,xyzta{ends[0]},xyztb{ends[1]},xyztc{ends[2]}->xyzt",
                    EPSILON,
                    EPSILON,
                    s1,
                    s2,
                    s3,
                    optimize=True,
                )
    return summed(total, momentum)


def meson(s1, s2, sink, source, momentum):
    """The sum of exp(i p (x - x0)) tr[(gamma_5 S2 gamma_5)^+ G S1 G']."""
    back = np.einsum("ij,...jcke,kl->...icle", GAMMA5, s2, GAMMA5).conj()
    sites = np.einsum("xyztacbe,ad,xyztdcfe,fb->xyzt", back, sink, s1, source, optimize=True)
    return summed(sites, momentum)


def orders(flavours, spins):
    different = sorted(set(itertools.permutations(spins)))
    return [(len(different) ** -0.5, list(zip(flavours, order, strict=True))) for order in different]


def scaled(factor, wave):
    return [(factor * w, quarks) for w, quarks in wave]


def octet(first, second, third, spin):
    """The field q1_s (q2_+ q3_- - q2_- q3_+)."""
    return [(1, [(first, spin), (second, UP), (third, DOWN)]), (-1, [(first, spin), (second, DOWN), (third, UP)])]


WAVES = {
    "proton/up": scaled(2**-0.5, octet("u", "u", "d", UP)),
    "lambda_z/dn": scaled(2**-0.5, octet("s", "u", "d", DOWN)),
    "sigma_z/up": scaled(3**-0.5, octet("u", "d", "s", UP) + octet("d", "u", "s", UP)),
    "delta_p/up": scaled(3**0.5, orders("uud", (UP, UP, DOWN))),
    "sigma_star_z/dn": scaled(2**0.5, orders("uds", (DOWN, DOWN, UP))),
    "omega_m/upup": orders("sss", (UP, UP, UP)),
}


BEGIN = f'[configurations]\nfiles = ["{GAUGE}"]\n[[source]]\nname = "p"\nat = {ORIGIN}\n'


@pytest.fixture
def solved(quarksmith, tmp_path, request):
    """Propagators by flavour, as files have them, and the beginning of a run with the same."""
    action, mu = getattr(request, "param", ("wilson", None))
    found, run = {}, BEGIN
    for flavour, mass in MASSES.items():
        place = ",".join(map(str, ORIGIN))
        line = ("--gauge", GAUGE, "--action", action, "--mass", mass, "--source", f"point:{place}", "--tol", "1e-12")
        line += ("--mu", mu) if mu else ()
        quarksmith("propagator", *line, "--out", f"{flavour}.h5")
        found[flavour] = read(tmp_path / f"{flavour}.h5")
        run += made_of("p", action, {flavour: {"mass": mass, "tol": 1e-12} | ({"mu": mu} if mu else {})})
    return found, run


@pytest.fixture
def links(quarksmith, tmp_path):
    """Links with the boundary of quarks."""
    quarksmith("flow", GAUGE, "--time", "0", "--out", "u.ildg")
    u = ildg_links(tmp_path / "u.ildg")
    u[-1, ..., 3, :, :] *= -1
    return u


def results(measured, run):
    """Numbers by correlator and structure, of the first position and momentum."""
    found = {}
    for name, result in measured(run).items():
        if name != "solves":
            numbers = np.array(result["values"])[0, 0] @ [1, 1j]
            found[name] = dict(zip(result["structures"].split(), numbers, strict=True))
    return found


def same(found, expected):
    return np.allclose(found, expected, rtol=1e-8, atol=1e-10 * abs(expected).max())


def test_baryons_are_wick_contractions(measured, solved):
    quarks, run = solved
    names = sorted({name.split("/")[0] for name in WAVES})
    lines = {"quarks": {flavour: flavour for flavour in "uds"}, "interpolators": names}
    run += table("correlator", name="b", kind="baryon", **lines, momenta=[[1, 0, -1]])
    found = results(measured, run)["b"]
    lines = {flavour: dirac(matrices(s)) for flavour, s in quarks.items()}
    for name, wave in WAVES.items():
        assert same(found[name], two_point(wave, lines, np.array([1, 0, -1]))), name


def derivative(u, psi, mu):
    return (hop(u, psi, mu, 1) - hop(u, psi, mu, -1)) / 2


def test_mesons_with_derivatives(quarksmith, measured, solved, links, tmp_path):
    """At the sink of a propagator, once and twice, and at its source."""
    quarks, run = solved
    for name, sink in {"dy": "derivative:y", "dxdy": "derivative:y/derivative:x"}.items():
        ends = {"gammas": ["gx", "gz,g5"], "momenta": [[1, 0, -1]]}
        run += table("propagator", name=name, quark="u", source="p", sink=sink)
        run += table("correlator", name=name, kind="meson", quarks=[name, "s"], **ends)
    run += table("correlator", name="other", kind="meson", quarks=["u", "d"])
    found = results(measured, run)
    s2 = matrices(quarks["s"])
    once = derivative(links, quarks["u"], 1)
    for name, s1 in {"dy": once, "dxdy": derivative(links, once, 0)}.items():
        for structure, ends in {"gx": (GAMMA[0], GAMMA[0]), "gz,g5": (GAMMA[2], GAMMA5)}.items():
            expected = meson(matrices(s1), s2, *ends, np.array([1, 0, -1]))
            assert same(found[name][structure], expected), (name, structure)
    place = ",".join(map(str, ORIGIN))
    source = ("--source", f"derivative:{place}:z", "--tol", "1e-12", "--out", "z.h5")
    quarksmith("propagator", "--gauge", GAUGE, "--mass", MASSES["u"], *source)
    eta = np.zeros_like(once)
    eta[tuple(ORIGIN[::-1])] = np.eye(12).reshape(12, 4, 3)
    b = derivative(links, eta, 2)
    assert relative(wilson(links, read(tmp_path / "z.h5"), MASSES["u"]) - b, b) < 1e-10


def chroma_currents(links, s1, s2):
    """Those of curcor2 in Chroma's hadron spectrum, as its text has them; s1 and s2 as files have propagators."""
    u = links.copy()
    u[-1, ..., 3, :, :] *= -1  # Chroma's links have no phase at the boundary

    def trace(left, right):
        """tr[left^+ right] over all indices."""
        return summed(np.einsum("xyzticjd,xyzticjd->xyzt", left.conj(), right), np.zeros(3))

    def between(left, s, right):
        return np.einsum("ij,...jckd,kl->...icld", left, s, right)

    one = np.eye(4)
    s, anti = matrices(s1), between(GAMMA5, matrices(s2), GAMMA5)
    found = {}
    for k in range(3):
        g = GAMMA[k]
        s_ahead, anti_ahead = matrices(hop(u, s1, k, 1)), between(GAMMA5, matrices(hop(u, s2, k, 1)), GAMMA5)
        plain = (trace(anti, between(g, s_ahead, g)) + trace(between(g, anti_ahead, g), s)) / 2
        found[f"vector-{k}"] = plain
        found[f"vector-{k + 3}"] = (
            plain + (trace(between(one, anti_ahead, g), s) - trace(anti, between(one, s_ahead, g))) / 2
        )
        found[f"vector-{k + 6}"] = -trace(anti, between(g @ GAMMA[3], s, g))
    g7 = GAMMA[0] @ GAMMA[1] @ GAMMA[2]
    s_ahead, anti_ahead = matrices(hop(u, s1, 3, 1)), between(GAMMA5, matrices(hop(u, s2, 3, 1)), GAMMA5)
    found["axial-0"] = -(trace(anti, between(g7, s_ahead, GAMMA5)) - trace(between(g7, anti_ahead, GAMMA5), s)) / 2
    found["axial-1"] = -trace(anti, between(g7, s, GAMMA5))
    return found


def test_currents_of_chroma(measured, solved, links):
    quarks, run = solved
    run += table("correlator", name="c", kind="chroma-currents", quarks=["u", "s"])
    run += table("correlator", name="other", kind="meson", quarks=["u", "d"])
    found = results(measured, run)["c"]
    expected = chroma_currents(links, quarks["u"], quarks["s"])
    assert set(found) == set(expected)
    for name, values in expected.items():
        assert same(found[name], values), name


def inserted(u, s, current, q, time):
    """A current of momentum q on one time slice, as the source of another propagator."""
    extent = s.shape[3::-1]
    places = np.indices(s.shape[:4])[::-1]
    angle = sum(2 * np.pi * q[mu] * (places[mu] - ORIGIN[mu]) / extent[mu] for mu in range(3))
    weight = np.where(places[3] == (ORIGIN[3] + time) % extent[3], np.exp(1j * angle), 0)[..., None, None, None]
    if not isinstance(current, int):
        return weight * on_spins(current, s)
    forth = on_spins(np.eye(4) - GAMMA[current], hop(u, s, current, 1))
    rows = (weight * s).reshape(*s.shape[:4], -1, 3)
    back = ahead(rows @ u[..., current, :, :].conj(), current, -1).reshape(s.shape)
    return (on_spins(np.eye(4) + GAMMA[current], back) - weight * forth) / 2


def dirac_matrix(u, mass, action, mu):
    """The operator, dense; of naive quarks mu is a chemical potential."""
    r, twist = (0, 0) if action == "naive" else (1, mu or 0)
    sites = np.arange(u[..., 0, 0, 0].size).reshape(u.shape[:4])
    d = np.zeros((sites.size, 12, sites.size, 12), complex)
    d[sites.ravel(), :, sites.ravel(), :] = (4 * r + mass) * np.eye(12) + 1j * twist * np.kron(GAMMA5, np.eye(3))
    for nu in range(4):
        links, next_sites = u[..., nu, :, :].reshape(-1, 3, 3), ahead(sites, nu).ravel()
        forth = np.exp(mu) if action == "naive" and nu == 3 else 1
        for x, (y, link) in enumerate(zip(next_sites, links, strict=True)):
            d[x, :, y, :] -= forth * np.kron(r * np.eye(4) - GAMMA[nu], link) / 2
            d[y, :, x, :] -= np.kron(r * np.eye(4) + GAMMA[nu], link.conj().T) / 2 / forth
    return d.reshape(12 * sites.size, -1)


def solutions(matrix, sources):
    """Of several sources of twelve columns."""
    b = np.stack(sources)
    columns = np.moveaxis(b, 5, 1).reshape(b.shape[0] * 12, -1)
    x = np.linalg.solve(matrix, columns.T).T
    return np.moveaxis(x.reshape(b.shape[0], 12, *b.shape[1:5], 4, 3), 1, 5)


CURRENTS = {"V4": GAMMA[3], "A3": GAMMA[2] @ GAMMA5, "T12": GAMMA[0] @ GAMMA[1], "conserved_V1": 0, "conserved_V4": 3}


QUARKS = [("wilson", None), ("twisted-mass", 0.3), ("naive", 0.4)]


@pytest.mark.parametrize(
    ("solved", "action"), [(q, q) for q in QUARKS], indirect=["solved"], ids=[q for q, _ in QUARKS]
)
def test_three_point_functions(measured, solved, links, action):
    """Of a meson and both quarks in the proton, by solves through the current, not through the sink."""
    quarks, run = solved
    currents = {name: g for name, g in CURRENTS.items() if action[0] != "naive" or not isinstance(g, int)}
    q, p, time, separation = [0, 1, -1], [1, 0, -1], 1, 2
    common = {"separation": separation, "sink_momentum": p, "momenta": [q], "currents": list(currents)}
    common = {"kind": "three-point", **common}
    run += table("correlator", name="meson", of="meson", quarks=["u", "s"], gamma="g5,gx", **common)
    for line in "ud":
        proton = {"interpolator": "proton/up", "quarks": {"u": "u", "d": "d"}}
        run += table("correlator", name=line, of="baryon", line=line, **proton, **common)
    run += table("correlator", name="s", kind="meson", quarks=["d", "s"])
    found = results(measured, run)
    lines = {flavour: dirac(matrices(s)) for flavour, s in quarks.items()}
    for line in "ud":
        sources = [inserted(links, quarks[line], current, q, time) for current in currents.values()]
        solved_through = solutions(dirac_matrix(links, MASSES[line], *action), sources)
        for name, changed in zip(currents, map(matrices, solved_through), strict=True):
            expected = two_point(WAVES["proton/up"], lines, np.array(p), (line, dirac(changed)))[separation]
            assert found[line][name][time] == pytest.approx(expected, rel=1e-7), (line, name)
            if line == "u":
                expected = meson(changed, matrices(quarks["s"]), GAMMA5, GAMMA[0], np.array(p))[separation]
                assert found["meson"][name][time] == pytest.approx(expected, rel=1e-7), name


@pytest.mark.parametrize(
    "action",
    [
        'action = "twisted-clover"\nmu = 0.2\ncsw = 1.2',
        'action = "twisted-mass"\nmu = 0.2\nepsilon = 0',
        'action = "moebius"\nls = 4\nm5 = 1.4\nb5 = ["1.5:0.4", 1.1, "1.3:-0.2", 1.6]\nc5 = [0.4, "0.2:0.1", 0.5, 0.3]',
    ],
    ids=["clover", "doublet", "moebius"],
)
def test_scalar_current_is_the_derivative_by_the_mass(measured, action):
    """sum_t C3(t) = -dC2/dm of the quark that carries it, by a difference."""
    step, run = 1e-3, BEGIN
    for name, mass in {"q": 0.3, "more": 0.3 + step, "less": 0.3 - step}.items():
        run += f'[[quark]]\nname = "{name}"\n{action}\nmass = {mass}\ntol = 1e-13\n'
        run += f'[[propagator]]\nname = "{name}"\nquark = "{name}"\nsource = "p"\n'
    for name in ("more", "less"):
        run += f'[[correlator]]\nname = "{name}"\nkind = "meson"\nquarks = ["{name}", "q"]\ngammas = ["g5,gx"]\n'
    meson = {"kind": "three-point", "of": "meson", "quarks": ["q", "q"], "gamma": "g5,gx"}
    run += table("correlator", name="s", separation=2, currents=["S"], **meson)
    found = results(measured, run)
    slope = (found["more"]["g5,gx"] - found["less"]["g5,gx"])[2] / (2 * step)
    assert found["s"]["S"].sum() == pytest.approx(-slope, rel=1e-5)


def test_a_phase_multiplies_a_smeared_point(quarksmith, tmp_path, measured):
    """The source has exp(i p.(x - x0)) at each site that smearing reaches: from points there, on unit links."""
    step, p, unit = 1 / 4, np.array([1, 0, 0]), GAUGE.replace("hot", "unit").removesuffix(":3")
    extents = np.array([4, 2, 4])
    smeared, points = 0, []
    for n, d in enumerate([np.zeros(3, int), *np.eye(3, dtype=int), *-np.eye(3, dtype=int)]):
        place = ",".join(map(str, [*(ORIGIN[:3] + d) % extents, ORIGIN[3]]))
        line = ("--gauge", unit, "--mass", 0.3, "--source", f"point:{place}", "--tol", "1e-12")
        quarksmith("propagator", *line, "--out", f"{n}.h5")
        points.append(matrices(read(tmp_path / f"{n}.h5")))
        weight = 1 - 6 * step if n == 0 else step
        smeared = smeared + weight * np.exp(2j * np.pi * (p * d / extents).sum()) * points[n]
    run = f'[configurations]\nfiles = ["{unit}"]\n[[quark]]\nname = "q"\naction = "wilson"\nmass = 0.3\ntol = 1e-12\n'
    for name, keys in {"s": 'smearing = "gaussian:1,1"\nmomentum = [1, 0, 0]\n', "o": ""}.items():
        run += f'[[source]]\nname = "{name}"\nat = {ORIGIN}\n{keys}'
        run += f'[[propagator]]\nname = "{name}"\nquark = "q"\nsource = "{name}"\n'
    run += '[[correlator]]\nname = "c"\nkind = "meson"\nquarks = ["s", "o"]\ngammas = ["g5"]\nmomenta = [[-1, 0, 0]]\n'
    found = results(measured, run)["c"]["g5"]
    expected = meson(smeared, points[0], GAMMA5, GAMMA5, -p)
    assert abs(expected).min() > 1e-6
    assert found == pytest.approx(expected, rel=1e-8)
