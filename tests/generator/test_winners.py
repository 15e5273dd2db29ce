"""Evidence keeps the candidates from which the same winners follow as from all."""

import pytest

from generator.profile import load_profile
from generator.targets import TARGETS
from generator.tune.winners import deciding, winners

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")

PLAIN = load_profile("default").find("wilson_single_r12_nr_n1")
BATCH = next(s for s in load_profile("default").kernels if s.operator.name == "wilson" and s.tile > 1 and not s.dagger)
SHAPES = ([], ["box"], ["stream"], ["kept"], ["kept", "pairs"], ["kept", "quads"], ["a shape that is gone"])


def row(shape, numbers, status, time):
    return {"shape": shape, "block": numbers[0], "min_blocks": numbers[1], "status": status, "microseconds": time}


@st.composite
def sweeps(draw, spec):
    """A kernel's candidates by class, many of them as fast as others to what a variant must gain."""
    launches = [(64, 4), (128, 3), (spec.block, spec.min_blocks), (0, 0)]
    status = st.sampled_from(["ok"] * 9 + ["wrong"])
    time = st.sampled_from([1.0, 1.01, 1.02, 1.04, 1.1, 1.25]) | st.floats(0.9, 1.3)
    found = {}
    for size in draw(st.lists(st.sampled_from([*TARGETS["cuda"].sizes, "gone"]), unique=True)):
        pairs = draw(st.lists(st.tuples(st.sampled_from(SHAPES), st.sampled_from(launches)), unique_by=str))
        found[size] = sorted((row(*pair, draw(status), draw(time)) for pair in pairs), key=lambda r: r["microseconds"])
    return found


@pytest.mark.parametrize("spec", [PLAIN, BATCH], ids=str)
@hypothesis.given(data=st.data())
def test_what_is_kept_decides_as_all_do(spec, data):
    classes = data.draw(sweeps(spec))
    kept = deciding(spec, classes, TARGETS["cuda"])
    assert winners(spec, kept, TARGETS["cuda"]) == winners(spec, classes, TARGETS["cuda"])
    assert deciding(spec, kept, TARGETS["cuda"]) == kept
    for size, rows in classes.items():
        ids = [id(r) for r in rows]
        assert [ids.index(id(r)) for r in kept[size]] == sorted(ids.index(id(r)) for r in kept[size])


def test_few_of_many_are_kept():
    """The fastest of each class, the default, and the compromise between two classes."""
    numbers = [(b, m) for b in (64, 128, 256) for m in (1, 2, 4, 8) if (b, m) != (PLAIN.block, PLAIN.min_blocks)]
    rows = [row([], n, "ok", 10.0 + k) for k, n in enumerate(numbers)]
    default = row([], (PLAIN.block, PLAIN.min_blocks), "ok", 50.0)
    between = row(["box"], (64, 4), "ok", 10.1)
    other = [
        row(["box"], (64, 4), "ok", 5.1),
        row(["stream"], (64, 4), "ok", 5.0),
        row([], (64, 4), "ok", 9.0),
        default,
    ]
    kept = deciding(PLAIN, {"large": [rows[0], between, *rows[1:], default], "small": other}, TARGETS["cuda"])
    assert kept == {"large": [rows[0], between, default], "small": [*other[:2], default]}
