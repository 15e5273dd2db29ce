"""Baryons of `quarksmith measure` against Wick contractions in NumPy of propagators in files."""

import itertools
import json

import numpy as np
import pytest

h5py = pytest.importorskip("h5py")

EPSILON = np.zeros((3, 3, 3))
for a, b, c in itertools.permutations(range(3)):
    EPSILON[a, b, c] = np.linalg.det(np.eye(3)[[a, b, c]])
UP, DOWN = 0, 1


def gammas():
    """DeGrand-Rossi, from Pauli matrices."""
    zero, one = np.zeros((2, 2)), np.eye(2)
    s1, s2, s3 = np.array([[0, 1], [1, 0]]), np.array([[0, -1j], [1j, 0]]), np.diag([1, -1])
    block = lambda upper, lower: np.block([[zero, upper], [lower, zero]])  # noqa: E731
    return block(1j * s1, -1j * s1), block(-1j * s2, 1j * s2), block(1j * s3, -1j * s3), block(one, one)


def propagator(path):
    """S[x, y, z, t, sink spin, sink colour, source spin, source colour] in the basis where gamma_t is diagonal."""
    with h5py.File(path) as file:
        columns = [[file[f"column/{s}/{c}"][:] for c in range(3)] for s in range(4)]
    s = np.moveaxis(np.array(columns), (0, 1), (-2, -1)).transpose(3, 2, 1, 0, 4, 5, 6, 7)
    x, y, z, t = gammas()
    r = (x @ y @ z @ t @ t - np.eye(4)) @ x @ z / np.sqrt(2)
    return np.einsum("ia,...icjd,jb->...acbd", r.conj(), s, r)


def two_point(wave, quarks, momentum, origin):
    """<B Bbar> of sum of w eps_abc q1 q2 q3 (flavour, component), with the signs of Grassmann numbers, by t."""
    total = 0
    for (w, sink), (v, source) in itertools.product(wave, wave):
        for order in itertools.permutations(range(3)):
            if any(sink[k][0] != source[order[k]][0] for k in range(3)):
                continue
            sign = np.linalg.det(np.eye(3)[list(order)])
            s1, s2, s3 = (quarks[sink[k][0]][..., sink[k][1], :, source[order[k]][1], :] for k in range(3))
            ends = "".join("def"[n] for n in order)
            total = total + w * v * sign * np.einsum(
                f"abc,def,xyzta{ends[0]},xyztb{ends[1]},xyztc{ends[2]}->xyzt",
                EPSILON,
                EPSILON,
                s1,
                s2,
                s3,
                optimize=True,
            )
    sites = np.stack(np.meshgrid(*(np.arange(n) for n in total.shape[:3]), indexing="ij"), axis=-1)
    angle = 2 * np.pi * ((sites - origin[:3]) * momentum / np.array(total.shape[:3])).sum(axis=-1)
    return np.roll(np.einsum("xyz,xyzt->t", np.exp(1j * angle), total), -origin[3])


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


def test_baryons_are_wick_contractions(quarksmith, tmp_path):
    origin, momentum = [1, 2, 3, 2], [1, 0, -1]
    run = '[configurations]\nfiles = ["hot:4,4,4,4:3"]\n[[source]]\nname = "p"\nat = [1, 2, 3, 2]\n'
    quarks = {}
    for flavour, mass in {"u": 0.2, "d": 0.3, "s": 0.5}.items():
        line = ("--gauge", "hot:4,4,4,4:3", "--mass", mass, "--source", "point:1,2,3,2", "--tol", "1e-12")
        quarksmith("propagator", *line, "--out", f"{flavour}.h5")
        quarks[flavour] = propagator(tmp_path / f"{flavour}.h5")
        run += f'[[quark]]\nname = "{flavour}"\naction = "wilson"\nmass = {mass}\ntol = 1e-12\n'
        run += f'[[propagator]]\nname = "{flavour}"\nquark = "{flavour}"\nsource = "p"\n'
    names = sorted({name.split("/")[0] for name in WAVES})
    run += '[[correlator]]\nname = "b"\nkind = "baryon"\nquarks = {u = "u", d = "d", s = "s"}\n'
    run += f"interpolators = {json.dumps(names)}\nmomenta = [[1, 0, -1]]\n"
    (tmp_path / "run.toml").write_text(run)
    quarksmith("measure", "run.toml", "--out", "r.h5")
    with h5py.File(tmp_path / "r.h5") as file:
        data = file["000003"]["b"]
        found = dict(zip(data.attrs["structures"].split(), data[0, 0], strict=True))
    for name, wave in WAVES.items():
        expected = two_point(wave, quarks, np.array(momentum), origin)
        assert np.allclose(found[name], expected, rtol=1e-8, atol=1e-10 * abs(expected).max()), name
