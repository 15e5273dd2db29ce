"""Every key of every table of `quarksmith measure` changes something: keys are those that a refusal names."""

import re

import pytest

HEAD = """
[configurations]
files = ["hot:4,2,2,4:1", "hot:4,2,2,4:2"]
numbers = [1, 2]
last = 1
"""
DIRAC = """
[[source]]
name = "p"
at = [1, 0, 0, 1]
smearing = "gaussian:1,2"
[[quark]]
name = "q"
action = "wilson"
mass = 0.5
[[quark]]
name = "h"
action = "wilson"
mass = 0.8
[[propagator]]
name = "q"
quark = "q"
source = "p"
sink = "gaussian:1,2"
[[propagator]]
name = "h"
quark = "h"
source = "p"
sink = "gaussian:1,2"
"""
SPARE = '[[correlator]]\nname = "spare"\nkind = "meson"\ngammas = ["g5"]\nquarks = ["q", "h"]\n'
SOURCE, QUARKS = DIRAC[: DIRAC.index("[[quark]]")], DIRAC[DIRAC.index("[[quark]]") :]
NOISE = SOURCE.replace("at = [1, 0, 0, 1]", 'kind = "noise-wall"\nat = [1]\nseed = 3')
DRAWN = SOURCE.replace("at = [1, 0, 0, 1]", "count = 1\nseed = 3")
WALL = DIRAC.replace('"wilson"', '"domain-wall"\nm5 = 1.5\nls = 4').replace('sink = "gaussian:1,2"\n', "")
STAGGERED = DIRAC.replace('"wilson"', '"staggered"').replace('smearing = "gaussian:1,2"\n', "")
STAGGERED = STAGGERED.replace('sink = "gaussian:1,2"\n', "").replace("at = [1, 0, 0, 1]", "at = [0, 0, 0, 0]")
SPARE_STAGGERED = '[[correlator]]\nname = "spare"\nkind = "staggered-meson"\nquarks = ["q", "h"]\nmesons = ["pion_5"]\n'
SMEARED = '"stout:0.1,2"'
MOMENTA = {"momenta": "[[0, 0, 1]]", "largest_square": "1", "average": "true"}  # of all correlators


def correlator(kind, before, keys, **changes):
    """A row: what stands before the table, the table, and another value of each of its keys."""
    keys = {"momenta": "[[1, 0, 0]]", **keys}
    text = f'[[correlator]]\nname = "c"\nkind = "{kind}"\n' + "".join(f"{k} = {v}\n" for k, v in keys.items())
    return f"{kind} {keys.get('of', '')}", before, text, {**MOMENTA, **changes}


def observable(kind, keys, **changes):
    text = f'[[observable]]\nname = "o"\nkind = "{kind}"\n' + "".join(f"{k} = {v}\n" for k, v in keys.items())
    return kind, "", text, changes


PAIR = {"quarks": '["q", "h"]'}
PROTON = '{u = "q", d = "h"}'
SINK = {"separation": "2", "currents": '["V4"]'}
SINKS = {"separation": "1", "sink_momentum": "[1, 0, 0]", "quark": '"h"', "currents": '["A4"]'}
FIXING = '[gauge_fixing]\ncondition = "landau"\ntol = 1e-6\n'
# fmt: off
OF_SOURCE = {"smearing": '"wuppertal:0.3,1"', "smearing_links": SMEARED, "momentum": "[1, 0, 0]"}
TABLES = [
    ("source", SPARE + QUARKS, SOURCE, {"at": "[0, 0, 0, 1]", "count": "1\nseed = 1", **OF_SOURCE}),
    ("source", SPARE + QUARKS, DRAWN, {"count": "2", "seed": "4"}),
    ("noise", SPARE + QUARKS, NOISE, {"at": "[0]", "count": "1", "seed": "4", "group": '"z4"', **OF_SOURCE}),
    ("propagator",
     SPARE + DIRAC[: DIRAC.rindex("[[propagator]]")] + SOURCE.replace('"p"', '"o"').replace("gaussian:1", "gaussian:2"),
     DIRAC[DIRAC.rindex("[[propagator]]") :],
     {"quark": '"q"', "source": '"o"', "sink": '"wuppertal:0.3,1"', "sink_links": SMEARED}),
    ("configurations", SPARE + DIRAC, HEAD.replace("last = 1\n", ""),
     {"files": '["hot:4,2,2,4:3", "hot:4,2,2,4:2"]', "numbers": "[0, 2]", "first": "2", "last": "1", "every": "2"}),
    correlator("meson", DIRAC + SPARE, PAIR, quarks='["h", "h"]', gammas='"all"'),
    correlator("chroma-currents", DIRAC + SPARE, PAIR, quarks='["h", "h"]', currents='["axial-0"]'),
    correlator("wall-currents", WALL + SPARE, {"quark": '"q"'}, quark='"h"', source='"gx"', currents='["J5q"]'),
    correlator("baryon", DIRAC, {"quarks": PROTON, "interpolators": '["proton"]'}, quarks='{u = "h", d = "q"}',
               interpolators='["neutron"]'),
    correlator("loop", DIRAC + SPARE, {"quark": '"q"', "count": "1", "seed": "1"}, quark='"h"', count="2", seed="2",
               group='"z4"', dilution='["spin"]', gammas='["g5"]'),
    correlator("three-point", DIRAC, {"of": '"meson"', **PAIR, "gamma": '"g5"', **SINK}, quarks='["h", "q"]',
               gamma='"gx"', **SINKS),
    correlator("three-point", DIRAC,
               {"of": '"baryon"', "quarks": PROTON, "interpolator": '"proton/up"', "line": '"u"', **SINK},
               quarks='{u = "h", d = "q"}', interpolator='"proton/dn"', line='"d"', **SINKS),
    correlator("staggered-meson", STAGGERED + SPARE_STAGGERED, {**PAIR, "mesons": '["pion_5"]'}, quarks='["h", "h"]',
               mesons='["rho_i"]'),
    correlator("staggered-nucleon", STAGGERED + SPARE_STAGGERED, {"quark": '"q"'}, quark='"h"'),
    observable("plaquette", {}),
    observable("polyakov", {}),
    observable("polyakov-correlator", {"space": 1}, space="2"),
    observable("wilson-loops", {"space": 1, "time": 1}, space="2", time="2", smear_space=SMEARED),
    observable("diagonal-loops", {"time": 1}, time="2", smear_space=SMEARED),
    observable("flow", {"time": 0.2}, time="0.1", step="0.05", every="0.04", action='"symanzik"', tol="1e-4"),
    ("gauge_fixing", "", FIXING, {"condition": '"coulomb"', "boost": "1.2", "tol": "1e-5", "max_steps": "1",
                                  "out": '"f"', "transformation": '"g"'}),
]
# fmt: on
IN_ITS_PLACE = {"count": "at", "largest_square": "momenta"}
FAILS = {"max_steps"}  # with a value with which the run cannot end
ELSEWHERE = {"allow_non_su3", "lattice"}  # test_measure_data: of files that need them


def with_key(table, key, value):
    kept = re.sub(rf"^({key}|{IN_ITS_PLACE.get(key, key)}) = .*\n", "", table, flags=re.M)
    return kept + f"{key} = {value}\n"


def whole(name, others, table):
    return others + table + ("" if name == "configurations" else HEAD)


@pytest.mark.parametrize("row", TABLES, ids=[f"{n}-{t[0].strip()}" for n, t in enumerate(TABLES)])
def test_each_key_changes_something(quarksmith, tmp_path, row):
    name, others, table, changes = row

    def left(own, status=0):
        """Results and files; of a run that fails its status."""
        (tmp_path / "run.toml").write_text(whole(name, others, own))
        for file in tmp_path.iterdir():
            if file.name != "run.toml":
                file.unlink()
        quarksmith("measure", "run.toml", "--out", "r.h5", "--json", "r.json", status=status)
        if status != 0:
            return status
        told = quarksmith.json("r.json")["configurations"]
        results = [(c["number"], c["gauge_digest"], {n: r["values"] for n, r in c["results"].items()}) for c in told]
        return results, sorted(p.name for p in tmp_path.iterdir())

    before = left(table)
    for key, value in changes.items():
        status = int(key in FAILS)
        assert left(with_key(table, key, value), status) != before, key


@pytest.mark.parametrize("name", dict.fromkeys(t[0] for t in TABLES))
def test_the_keys_are_all_there_are(quarksmith, tmp_path, name):
    rows = [t for t in TABLES if t[0] == name and t[3]]
    for _, others, table, _ in rows:
        (tmp_path / "run.toml").write_text(whole(name, others, with_key(table, "unknown_key", 1)))
        known = quarksmith.refuses("measure", "run.toml", "--dry-run").split("use ")[-1].strip().split(", ")
        assert set(known) - ELSEWHERE == set().union(*(changes for *_, changes in rows))
