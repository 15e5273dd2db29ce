"""Momenta of `quarksmith measure`: which are averaged."""

import numpy as np
import pytest
from descriptions import quarks, run_file, table

MESON = {"kind": "meson", "quarks": ["q", "q"], "gammas": ["g5"], "largest_square": 1}
RUN = run_file(
    "hot:4,2,4,4:1",
    table("source", name="p", at=[1, 0, 2, 1]),
    quarks("p", "wilson", {"q": {"mass": 0.5}}),
    table("correlator", name="mean", average=True, **MESON),
    table("correlator", name="each", **MESON),
)
X, Y, Z = ([sign * np.eye(3, dtype=int)[mu] for sign in (1, -1)] for mu in range(3))
NONE = [np.zeros(3, dtype=int)]
PLAIN = 'files = ["hot:4,4,4,4:1"]'
CASES = {
    "one": [('files = ["hot:4,2,4,4:1"]', PLAIN)],
    "extents": [],
    "source momentum": [('files = ["hot:4,2,4,4:1"]', PLAIN), ("at = ", "momentum = [0, 0, 1]\nat = ")],
    "derivative": [('files = ["hot:4,2,4,4:1"]', PLAIN), ("at = ", 'smearing = "derivative:x"\nat = ')],
    "twist": [('files = ["hot:4,2,4,4:1"]', PLAIN), ("mass", "boundary = [0.3, 0.3, 0, 1]\nmass")],
}
GROUPS = {
    "one": [NONE, X + Y + Z],
    "extents": [NONE, X + Z, Y],
    "source momentum": [NONE, X + Y, [Z[0]], [Z[1]]],
    "derivative": [NONE, [X[0]], [X[1]], Y + Z],
    "twist": [NONE, [X[0], Y[0]], [X[1], Y[1]], Z],
}


@pytest.mark.parametrize("case", CASES)
def test_equivalent_momenta_alone_are_averaged(measured, case):
    text = RUN
    for old, new in CASES[case]:
        assert old in text
        text = text.replace(old, new)
    results = measured(text)
    momenta, values = {}, {}
    for name in ("mean", "each"):
        momenta[name] = [tuple(p) for p in np.array(results[name]["momenta"]).reshape(-1, 3)]
        values[name] = np.array(results[name]["values"])[0, :, 0] @ [1, 1j]
    expected = {max(tuple(p) for p in group): group for group in GROUPS[case]}
    assert set(momenta["mean"]) == set(expected)
    for name, found in zip(momenta["mean"], values["mean"], strict=True):
        each = [values["each"][momenta["each"].index(tuple(p))] for p in expected[name]]
        assert found == pytest.approx(np.mean(each, axis=0), rel=1e-12)


def test_a_phase_multiplies_a_smeared_wall(measured):
    """Smearing leaves a wall on unit links as it is; a wall with a phase would be scaled."""
    text = run_file("unit:4,2,4,4", table("quark", name="q", action="wilson", mass=0.5))
    for name, smearing in {"a": {"smearing": "gaussian:1,3"}, "b": {}}.items():
        text += table("source", name=name, kind="wall", at=[1], momentum=[1, 0, 0], **smearing)
        text += table("propagator", name=name, quark="q", source=name)
        text += table("correlator", name=name, kind="meson", quarks=[name, name], gammas=["g5"])
    results = measured(text)
    smeared, plain = (np.array(results[name]["values"])[0, 0, 0] @ [1, 1j] for name in "ab")
    assert smeared == pytest.approx(plain, rel=1e-9)
