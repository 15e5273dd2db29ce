"""What RUN.toml of `quarksmith measure` may not say: each is one error of a key and its line, before any work."""

import pytest
from test_measure import EXAMPLE, LOOP, OBSERVABLES, THREE_POINT
from test_measure_currents import WALLS

LIGHT = "csw = 1.0\n\n[[quark]]"  # the end of the first quark


def in_light(keys):
    return LIGHT, f"csw = 1.0\n{keys}\n\n[[quark]]"


EXAMPLE_WRONG = [  # old text, new text, the key that is refused (of the table, if it is not there)
    ("kappa = 0.12", "kapa = 0.12", "kapa"),
    ('quark = "light"', 'quark = "ligth"', "quark"),
    ('quarks = ["l", "s"]', 'quarks = ["l"]', "quarks"),
    ('quarks = ["l", "s"]', 'quarks = ["l", "x"]', "quarks"),
    ('quarks = ["l", "s"]', 'quarks = "l"', "quarks"),
    ('"gxgygz,g5"', '"gxgxgz,g5"', "gammas"),
    ('"gxgygz,g5"', '"g5,g5,g5"', "gammas"),
    ('["g5", "gxgygz,g5"]', "[]", "gammas"),
    ('kind = "meson"', 'kind = "mesons"', "kind"),
    ('"proton", ', '"protn", ', "interpolators"),
    (', s = "s"}', "}", "interpolators"),
    ('s = "s"}', 's = "s", q = "l"}', "quarks"),
    ('s = "s"}', 's = "x"}', "quarks"),
    ("count = 2", "count = 0", "count"),
    ("count = 2", "at = [0, 0, 0]\n#", "at"),
    (EXAMPLE[EXAMPLE.index("count = 2") : EXAMPLE.index("seed = 7") + 8], "at = [0, 0, 0, 8]", "at"),
    ("count = 2", "at = [0, 0, 0, 0]\ncount = 2", "at"),
    ("count = 2", "# 2", "seed"),
    ("seed = 7", "sead = 7", "sead"),
    ("seed = 7", "", "seed"),
    ("seed = 7", "seed = 7\nmomentum = [0.5, 0, 0]", "momentum"),
    ("seed = 7", "seed = 7\nmomentum = [[1, 0, 0], [0, 1, 0]]", "momentum"),
    ("seed = 7", 'seed = 7\nsmearing = "gaussian:2"', "smearing"),
    ("seed = 7", 'seed = 7\nsmearing_links = "stout:0.1,1"', "smearing_links"),
    ("largest_square = 2", "momenta = [[0, 0, 0.5]]", "momenta"),
    ("largest_square = 2", "momenta = []", "momenta"),
    ("largest_square = 2", "momenta = [[0, 0, 0]]\nlargest_square = 2", "momenta"),
    ('"weak:0.3:4,4,4,8:2"', '"nothing_*.ildg"', "files"),
    ('4,4,4,8:2"', '4,4,4,8:1"', "files"),
    ("[configurations]\n", "[configurations]\nnumbers = [1.5, 2]\n", "numbers"),
    ("[configurations]\n", "[configurations]\nnumbers = [1]\n", "numbers"),
    ("[configurations]\n", "[configurations]\nfirst = 3\n", "files"),
    ("[configurations]\n", "[configurations]\nlattice = [4, 4, 4, 8]\n", "lattice"),
    (*in_light("omega = 1.1"), "omega"),
    (*in_light("delta = 0.1"), "delta"),
    (*in_light('solver = "gc"'), "solver"),
    (*in_light('precision = "doubel"'), "precision"),
    (*in_light('smear_links = ""'), "smear_links"),
    (*in_light('deflation = "12"'), "deflation"),
    (*in_light("deflation = 0"), "deflation"),
    (*in_light("deflation = -4"), "deflation"),
    (*in_light('deflation = 4\nsmear_links = "stout:0.1,1"'), "deflation"),
    (*in_light('smear_links = "stout:1"'), "smear_links"),
    ('name = "s"\nquark', 'name = "l"\nquark', "name"),
    ('source = "point"', 'source = "point"\nsink = "gauss:1,2"', "sink"),
    ('source = "point"', 'source = "point"\nsink_links = "stout:0.1,1"', "sink_links"),
    ('action = "clover"\nkappa = 0.12\ncsw = 1.0', 'action = "hisq"\nmass = 0.1', None),
    ("[[correlator]]", "[[corelator]]", None),
    (EXAMPLE[EXAMPLE.index("[[propagator]]") :], "", None),
    *(
        ('name = "kaon"', f'name = "{name}"', "name")
        for name in ("solves", "gauge_fixing", ".", "..", "a/b", "", "é" * 200)
    ),
]
OBSERVABLES_WRONG = [
    ("space = 2", "space = 5", "space"),
    ('kind = "polyakov"', 'kind = "polyakoff"', "kind"),
    ('"ape:0.6,2,space,1e-3"', '"ape:2,2"', "smear_space"),
    ("step = 0.1", "step = 0.7", "step"),
    ("step = 0.1", "step = 0", "step"),
    ('name = "polyakov"', 'name = "kaon"', "name"),
    ('"landau"', '"lorentz"', "condition"),
    ("tol = 1e-12", "boost = 2.0", "boost"),
]
THREE_POINT_WRONG = [
    ('"proton/up"', '"proton"', "interpolator"),
    ('line = "u"', 'line = "s"', "line"),
    ('"V4"]', '"V5"]', "currents"),
    ('"conserved_V4", "V4"', "", "currents"),
    ("separation = 3", "", "separation"),
    ("separation = 3", "separation = 8", "separation"),
    ("separation = 3", "separation = 3\nsink_momentum = [0, 0.5, 0]", "sink_momentum"),
    ('of = "baryon"', 'of = "tetraquark"', "of"),
]
WALLS_WRONG = [
    ('kind = "wall-currents"\nquark = "q"\nmom', 'kind = "wall-currents"\nquark = "x"\nmom', "quark"),
    ('kind = "wall-currents"\nquark = "q"\nmom', 'kind = "loop"\nquark = "q"\nseed = 1\ncount = 0\nmom', "count"),
    ('source = "gy"', 'source = "g6"', "source"),
    ('source = "gy"', 'currents = ["conserved_A5"]', "currents"),
    ('source = "gy"', "currents = []", "currents"),
    ('kind = "meson"\nquarks = ["q", "q"]', 'kind = "chroma-currents"\nquarks = ["q"]', "gammas"),
]
LOOP_WRONG = [
    ('quark = "light"\ncount', 'quark = "l"\ncount', "quark"),
    ('["spin", "colour"]', '["spin", "color"]', "dilution"),
    ('["spin", "colour"]', '["even-odd", "time", "space"]', "dilution"),
    ('["1", "g5"]', '["1,g5"]', "gammas"),
]
WRONG = [
    (text, *case)
    for text, cases in (
        (EXAMPLE, EXAMPLE_WRONG),
        (EXAMPLE + OBSERVABLES, OBSERVABLES_WRONG),
        (EXAMPLE + THREE_POINT, THREE_POINT_WRONG),
        (WALLS, WALLS_WRONG),
        (EXAMPLE + LOOP, LOOP_WRONG),
    )
    for case in cases
]
ELSEWHERE = [  # what is wrong shows in another table: its name, and the key there
    (EXAMPLE + THREE_POINT, 'action = "clover"', 'action = "clover"\nanisotropy = "2,1"', "charge", "currents"),
    (EXAMPLE + THREE_POINT, 'source = "point"', 'source = "point"\nsink = "derivative:x"', "charge", "quarks"),
    (WALLS, '"domain-wall"', '"moebius"\nb5 = 1.5\nc5 = 0.5', "w", "quark"),
    (WALLS, "ls = 4", "ls = 5", "w", "quark"),
    (WALLS, 'action = "domain-wall"\nm5 = 1.5\nmass = 0.2\nls = 4', 'action = "wilson"\nmass = 0.2', "w", "quark"),
    (WALLS, 'source = "p"\n', 'source = "p"\nsink = "gaussian:2,4"\n', "w", "quark"),
]


@pytest.mark.parametrize(("base", "old", "new", "key"), WRONG, ids=[f"{n}-{c[3]}" for n, c in enumerate(WRONG)])
def test_a_wrong_key_is_refused_with_its_line(refuse_file, base, old, new, key):
    refuse_file("measure", base, old, new, key, out="r.h5")


@pytest.mark.parametrize(("base", "old", "new", "name", "key"), ELSEWHERE, ids=[c[2][:20] for c in ELSEWHERE])
def test_what_does_not_go_together_is_refused(refuse_file, base, old, new, name, key):
    refuse_file("measure", base, old, new, key, of=name, out="r.h5")


def test_options_that_mean_nothing_are_refused(quarksmith, tmp_path):
    (tmp_path / "run.toml").write_text(EXAMPLE)
    assert "--out FILE.h5, or --dry-run" in quarksmith.refuses("measure", "run.toml")
    assert "leave it out" in quarksmith.refuses("measure", "run.toml", "--dry-run", "--out", "r.h5")
    assert "would replace" in quarksmith.refuses("measure", "run.toml", "--out", "run.toml", "--overwrite")
    (tmp_path / "r.h5").write_text("mine")
    quarksmith.refuses("measure", "run.toml", "--out", "r.h5", status=1)
    assert (tmp_path / "r.h5").read_text() == "mine"
