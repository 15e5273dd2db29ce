"""What `quarksmith measure` makes of links alone, against NumPy."""

import numpy as np
import pytest
from independent import adjoint, ahead, ildg_links, walk
from test_ranks import Job

GAUGE = "weak:0.6:4,4,4,6:3"
RUN = f'[configurations]\nfiles = ["{GAUGE}"]\n'


@pytest.fixture
def links(quarksmith, tmp_path):
    """The links of GAUGE."""
    quarksmith("flow", GAUGE, "--time", "0", "--out", "u.ildg")
    return ildg_links(tmp_path / "u.ildg")


def drift(u, action):
    """Z = TA(C U^+) with C the sum of staples, of rectangles too for the Symanzik action."""
    z = np.zeros_like(u)
    plaquette, rectangle = (5 / 3, -1 / 12) if action == "symanzik" else (1, 0)
    for mu in range(4):
        a = mu + 1
        c = np.zeros_like(u[..., mu, :, :])
        for b in (s * (nu + 1) for nu in range(4) for s in (1, -1) if nu != mu):
            c += plaquette * walk(u, (b, a, -b))
            if rectangle:
                for path in ((b, b, a, -b, -b), (b, a, a, -b, -a), (-a, b, a, a, -b)):
                    c += rectangle * walk(u, path)
        m = c @ adjoint(u[..., mu, :, :])
        m = (m - adjoint(m)) / 2
        z[..., mu, :, :] = m - np.trace(m, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) / 3
    return z


def exponential(x):
    """Of anti-Hermitian matrices."""
    values, vectors = np.linalg.eigh(-1j * x)
    return (vectors * np.exp(1j * values)[..., None, :]) @ adjoint(vectors)


def flowed(u, epsilon, action):
    """The step of third order, and d of the one of second order in it."""
    z0 = epsilon * drift(u, action)
    w1 = exponential(z0 / 4) @ u
    z1 = epsilon * drift(w1, action)
    w2 = exponential(8 / 9 * z1 - 17 / 36 * z0) @ w1
    third = exponential(3 / 4 * epsilon * drift(w2, action) - 8 / 9 * z1 + 17 / 36 * z0) @ w2
    second = exponential(2 * z1 - z0) @ u
    return third, np.linalg.norm(third - second, axis=(-2, -1)).max() / 9


@pytest.mark.parametrize("action", ["wilson", "symanzik"])
def test_flow(quarksmith, tmp_path, links, action):
    """A step, and the size of the next one with a tolerance."""
    line = ("flow", GAUGE, "--action", action, "--step", "0.05", "--every", "0.05", "--json", "f.json", "--overwrite")
    expected, d = flowed(links, 0.05, action)
    quarksmith(*line, "--time", "0.05", "--out", "v.ildg")
    assert np.allclose(ildg_links(tmp_path / "v.ildg"), expected, rtol=0, atol=1e-13)
    for tolerance, steps in ((1.001 * d, 1), (0.999 * d, 3)):  # one that is too large, then two
        quarksmith(*line, "--time", "0.05", "--tol", tolerance, "--out", "v.ildg")
        assert quarksmith.json("f.json")["steps"] == steps
    assert 1e-9 < abs(ildg_links(tmp_path / "v.ildg") - expected).max() < d


def test_adaptive_steps_reach_the_fixed_flow(measured):
    """The points are those of small steps, and far fewer steps are taken where the field is smooth."""
    flow = '[[observable]]\nname = "{}"\nkind = "flow"\ntime = 3.0\nevery = 0.5\n{}\n'
    results = measured(RUN + flow.format("fixed", "step = 0.01") + flow.format("adaptive", "tol = 1e-5"))
    fixed, adaptive = (np.array(results[name]["values"]) for name in ("fixed", "adaptive"))
    assert np.allclose(adaptive[:, 0], 0.5 * np.arange(7), atol=1e-14)
    assert np.allclose(adaptive, fixed, rtol=3e-5, atol=1e-4)
    assert results["adaptive"]["steps"] < results["fixed"]["steps"] / 2
    t, plaquette, time, space, *_, improved = fixed.T
    assert np.allclose(improved, t**2 * (4 * plaquette - time - space) / 3)


def test_polyakov_correlator(measured, links):
    loop = np.eye(3)
    for t in range(links.shape[0]):
        loop = loop @ links[t, ..., 3, :, :]
    p = np.trace(loop, axis1=-2, axis2=-1) / 3
    expected = [np.mean([(p * np.roll(p, -r, axis).conj()).real.mean() for axis in range(3)]) for r in range(4)]
    text = RUN + '[[observable]]\nname = "c"\nkind = "polyakov-correlator"\nspace = 3\n'
    assert measured(text)["c"]["values"] == pytest.approx(expected, abs=1e-14)


def test_the_gauge_transformation_is_written(quarksmith, tmp_path, links):
    """It turns the links into the fixed ones, and is found again by a run that goes on."""
    h5py = pytest.importorskip("h5py")
    text = RUN + '[gauge_fixing]\ncondition = "coulomb"\nout = "v"\ntransformation = "g"\n'
    (tmp_path / "run.toml").write_text(text)
    quarksmith("measure", "run.toml", "--out", "r.h5")
    with h5py.File(tmp_path / "g_00003.h5") as file:
        g = np.stack([file[f"column/0/{colour}"][:] for colour in range(3)], axis=-1)
    turned = np.stack([g @ links[..., mu, :, :] @ adjoint(ahead(g, mu)) for mu in range(4)], axis=-3)
    assert np.allclose(ildg_links(tmp_path / "v_00003.ildg"), turned, rtol=0, atol=1e-12)
    assert "gauge transformation, finished" in quarksmith("info", "g_00003.h5").stdout
    (tmp_path / "r.h5").unlink()
    quarksmith("measure", "run.toml", "--out", "r.h5")
    (tmp_path / "run.toml").write_text(text.replace("coulomb", "landau").replace('out = "v"', ""))
    error = quarksmith.refuses("measure", "run.toml", "--out", "s.h5")
    assert "g_00003.h5" in error and "choose another transformation of [gauge_fixing]" in error


def test_a_gauge_that_is_not_reached_ends_the_run(quarksmith, tmp_path):
    (tmp_path / "run.toml").write_text(RUN + '[gauge_fixing]\ncondition = "landau"\nmax_steps = 2\n')
    error = quarksmith.refuses("measure", "run.toml", "--out", "r.h5", status=1)
    assert "[gauge_fixing]: not converged" in error and "larger max_steps" in error


def checksums(quarksmith, folder):
    """Of the columns of the transformation."""
    quarksmith("info", "g_00003.h5", "--json", "i.json", "--overwrite")
    return [column["checksum"] for column in quarksmith.json("i.json")["columns"]]


def test_ranks_give_the_same(quarksmith, tmp_path):
    """Borders of what goes round corners, the largest error of a step, and the transformation of gauge fixing."""
    text = RUN.replace("4,4,4,6", "4,4,4,8")
    text += '[gauge_fixing]\ncondition = "landau"\ntol = 1e-9\ntransformation = "g"\n'
    for kind, keys in {
        "diagonal-loops": 'time = 2\nsmear_space = "ape:0.6,1,space"',
        "polyakov-correlator": "space = 2",
        "flow": 'action = "symanzik"\ntime = 0.1\ntol = 1e-6',
    }.items():
        text += f'[[observable]]\nname = "{kind}"\nkind = "{kind}"\n{keys}\n'
    (tmp_path / "run.toml").write_text(text)
    found = []
    for name, run in {"r": quarksmith, "s": lambda *line: Job(tmp_path)(2, *line, "--grid", "1,1,1,2")}.items():
        run("measure", "run.toml", "--out", f"{name}.h5", "--json", f"{name}.json", "--overwrite")
        results = quarksmith.json(f"{name}.json")["configurations"][0]["results"]
        found.append((results, checksums(quarksmith, tmp_path)))
    assert found[0] == found[1]
