"""No argument is taken and ignored: it belongs to actions, solvers, precisions, and is refused by name elsewhere.

What is wrong with a member alone is found by tests/refusals_test.cpp, of all members at all doors.
"""

import re

import pytest

from generator.language import Alternative, Option
from generator.language.parameters import option_name
from generator.operators import RECORDS
from generator.served import solvable_actions

TABLE = {option_name(a.name): a for a in solvable_actions()}
SPINORS = {name for name, a in TABLE.items() if a.spins == 4}
WALL = {name for name, a in TABLE.items() if (form := RECORDS[a.name].form) is not None and form.has_slices}
DOUBLETS = {name for name, a in TABLE.items() if a.extends}
STAGGERED = set(TABLE) - SPINORS
ALL = set(TABLE)
SOLVERS = {"cg", "cgnr", "cgne", "bicgstab", "bicgstab-l", "gcr", "mr", "block-cg", "eigcg", "gmres-dr", "multigrid"}


def value(option: Option) -> float | str:
    """One that is in its range."""
    one = min(max(0.2, option.lower), option.upper)
    return ",".join(f"{one:g}" for _ in option.numbers) if isinstance(option, Alternative) else one


def needed(action: str, *given: str) -> dict[str, float | str]:
    """What an action needs beside arguments that are given."""
    stated = TABLE[action]
    known = {n for s in stated.alternatives if s.name in given for n in s.parameters} | set(given)
    return {p.name: value(p) for p in stated.parameters if p.default is None and p.name not in known}


def taken_by(option: str) -> set[str]:
    """Actions with an option; an action that another one means lends it its own."""
    own = {name for name, a in TABLE.items() if option in a.options}
    return own | {option_name(TABLE[name].extends.name) for name in own & DOUBLETS}


# argument -> (a value, actions that take it)
OF_ACTIONS = {
    **{o.name: (value(o), taken_by(name)) for a in TABLE.values() for name, o in a.options.items()},
    "ls": (8, WALL),
    "flavours": ("0,1", DOUBLETS),
    "even_odd": ("asymmetric", ALL),
    "batch": (2, ALL),
    "sink": ("gaussian:1,2", SPINORS),
    "smear_links": ("stout:0.1,1", SPINORS),
    "basis": ("degrand_rossi", SPINORS),
}
OF_SOLVERS = {
    "restart": (5, {"gcr"}),
    "preconditioner": ("mr:4", {"gcr"}),
    "bicgstab_l": (3, {"bicgstab-l"}),
    "omega": (1.1, {"mr"}),
    "search": (40, {"eigcg", "gmres-dr"}),
    "keep": (4, {"eigcg", "gmres-dr"}),
    "mg": ("mg.toml", {"multigrid"}),
    "mg_load": ("v.h5", {"multigrid"}),
    "mg_refresh": (True, {"multigrid"}),
    "mg_save": ("w.h5", {"multigrid"}),
}
OF_MIXED = {"updates": "defect", "delta": 0.1}
EVERYWHERE = {
    *("deflate", "time_limit", "gauge", "lattice", "action", "boundary", "source", "solver", "precision"),
    *("reconstruct", "tol", "slice_tol", "max_iterations"),
    *("out", "correlators", "overwrite", "device", "grid", "field"),
    *("policy", "split", "json", "quiet", "log_level", "allow_non_su3", "ignore_checksum"),
}


@pytest.fixture
def takes(qs, tmp_path, monkeypatch):
    """Whether `propagator` takes an argument beside others: on a configuration that is not there."""
    monkeypatch.chdir(tmp_path)
    for name in ("mg.toml", "v.h5"):  # files of arguments are looked for before the configuration
        (tmp_path / name).touch()

    def takes(argument: str, **arguments: object) -> bool:
        given = {"gauge": "missing.ildg", **needed(arguments["action"], *arguments), **arguments}
        try:
            qs._quarksmith.run("propagator", given, None)
        except qs.UsageError as error:
            assert argument in (error.member, str(error).split()[0].strip(":")), (given, str(error))
            return False
        except qs.Error as error:
            assert "missing.ildg" in str(error), (given, str(error))
            return True
        raise AssertionError(given)

    return takes


def test_every_argument_is_known_to_this_test(qs):
    known = {*OF_ACTIONS, *OF_SOLVERS, *OF_MIXED, *EVERYWHERE}
    assert set(qs.commands.TABLE["propagator"].members) == known
    bench = {"shifts", "criterion", "look_ahead", "operator", "repeat", "seed", "csv", "levels", "history"}
    assert set(qs.commands.TABLE["solve_bench"].members) - known == bench


@pytest.mark.parametrize("argument", OF_ACTIONS)
def test_arguments_of_actions(takes, argument):
    given, actions = OF_ACTIONS[argument]
    assert {a for a in ALL if takes(argument, action=a, **{argument: given})} == actions


@pytest.mark.parametrize("argument", OF_SOLVERS)
def test_arguments_of_solvers(takes, argument):
    given, solvers = OF_SOLVERS[argument]
    more = {argument: given} | ({"mg_load": "v.h5"} if argument == "mg_refresh" else {})
    for solver in SOLVERS:
        named = argument if solver in solvers or argument != "mg_refresh" else "mg_load"
        assert takes(named, action="clover", solver=solver, **more) == (solver in solvers), solver
    for action in ALL:  # the default method of an action
        assert not takes("mg_load" if argument == "mg_refresh" else argument, action=action, **more), action


@pytest.mark.parametrize("argument", OF_MIXED)
def test_arguments_of_mixed_precision(takes, argument):
    for precision in ("double", "single", "double-half", "double-single"):
        for action in ALL:
            given = {argument: OF_MIXED[argument], "precision": precision}
            assert takes(argument, action=action, **given) == ("-" in precision), (action, precision)


def test_several_masses_are_for_staggered_quarks(takes):
    assert {a for a in ALL if takes("mass", action=a, mass="0.1,0.2")} == STAGGERED


UNIT = {"gauge": "unit:4,4,4,4"}
MASS = UNIT | {"mass": "0.3"}
QUARK = MASS | {"correlators": "c.json"}
TWISTED = MASS | {"action": "twisted-mass"}
HISQ = {"gauge": "unit:2,4,4,4", "action": "hisq", "correlators": "c.json"}
SU3 = {"lattice": "4,4,4,4", "sweeps": 1}
CLOVER = {"gauge": "weak:0.5:4,4,4,4:3", "action": "clover", "mass": "-0.6", "csw": 1}
EIGEN, VECTORS = CLOVER | {"json": "e.json"}, CLOVER | {"out": "e.h5"}
STAPLE = UNIT | {"name": "set_staple"}
CONTRADICTIONS = {  # by command: arguments, what the error names
    "propagator": [
        (UNIT, "mass"),
        (MASS | {"kappa": 0.1}, "kappa"),
        (UNIT | {"kappa": -0.1}, "kappa"),
        (MASS | {"action": "naive", "mu": 11}, "mu"),
        (MASS | {"action": "clovr"}, "did you mean clover?"),
        (TWISTED, "mu"),
        (MASS | {"action": "clover", "csw_r": 1}, "csw_t"),
        (MASS | {"action": "clover", "csw_t": 1}, "csw_r"),
        (TWISTED | {"mu": 0.1, "flavours": "0,1"}, "flavours"),
        (TWISTED | {"mu": 0.1, "epsilon": 0.1, "flavours": "0,2"}, "flavours"),
        (TWISTED | {"mu": 0, "epsilon": 4.3, "even_odd": "symmetric"}, "even_odd"),
        (UNIT | {"mass": "-4", "even_odd": "symmetric"}, "even_odd"),
        (MASS | {"precision": "double-"}, "precision"),
        (MASS | {"precision": "half-single"}, "precision"),
        (MASS | {"precision": "double-single-half"}, "precision"),
        (MASS | {"reconstruct": "14"}, "r14"),
        (MASS | {"boundary": "1,1"}, "boundary"),
        (MASS | {"boundary": "1e300,0,0,0"}, "boundary"),
        (MASS | {"anisotropy": "2"}, "anisotropy"),
        (MASS | {"anisotropy": "0,1"}, "anisotropy"),
        (MASS | {"gauge": "unit:4,4,3,4"}, "extent 3"),
        (MASS | {"gauge": "weak:0.1:4,4,4,4"}, "gauge"),
        (MASS | {"gauge": "unt:4,4,4,4"}, "did you mean unit?"),
        (MASS | {"device": "cppu"}, "did you mean cpu?"),
        (MASS | {"lattice": "4,4,4,4"}, "lattice"),
        (MASS | {"policy": "fused"}, "policy"),
        (MASS | {"field": {"phi": 1}}, "phi"),
        (MASS | {"out": "x", "correlators": "./x"}, "correlators"),
        (MASS | {"correlators": "c.h5"}, "correlators"),
        (MASS | {"out": "p.json"}, "out"),
        (QUARK | {"source": "point"}, "use point:x,y,z,t"),
        (QUARK | {"source": "point:0,0,0,0,"}, "x,y,z,t"),
        (QUARK | {"source": "point:0,0,0,-1"}, "t '-1'"),
        (QUARK | {"source": "point:1e30,0,0,0"}, "whole number"),
        (QUARK | {"source": "wall:4"}, "t = 4"),
        (QUARK | {"source": "noise:3,z3"}, "'z3'"),
        (QUARK | {"source": "noise:18446744073709551616"}, "whole number"),
        (QUARK | {"source": "gaussian:0,0,0,0:nan,3"}, "nan"),
        (QUARK | {"source": "jacobi:0,0,0,0:0.2,3,0"}, "norm = 0"),
        (QUARK | {"source": "wuppertal:0,0,0,0:-0.5,3"}, "alpha"),
        (QUARK | {"sink": "jacobi:0.2x,3"}, "kappa '0.2x'"),
        (QUARK | {"sink": "wuppertal:0.2,0"}, "N = 0"),
        (QUARK | {"smear_links": "stout:50,3"}, "between"),
        (QUARK | {"smear_links": "hyp:0.7,nan,0.3,1"}, "between"),
        (QUARK | {"solver": "eigcg", "search": 20, "keep": 10}, "21 or more"),
        (QUARK | {"solver": "gmres-dr", "search": 11, "keep": 10}, "12 or more"),
        (QUARK | {"solver": "eigcg", "precision": "double-half"}, "double-single"),
        (QUARK | {"solver": "gcr", "preconditioner": "eigcg:4"}, "preconditioner"),
        (HISQ | {"mass": "-1"}, "mass"),
        (HISQ | {"mass": "0.1", "gauge": "unit:4,4,4,4", "reconstruct": "12"}, "r13"),
        (HISQ | {"mass": "0.1", "gauge": "unit:4,4,4,4", "source": "gaussian:0,0,0,0:2,5"}, "Dirac"),
        (HISQ | {"mass": "0.1"}, "3 sites"),
    ],
    "solve-bench": [
        (MASS | {"action": "domain-wall", "solver": "multishift"}, "shifted systems"),
        (MASS | {"solver": "multishift", "batch": "2"}, "batch"),
        (MASS | {"solver": "multishift", "shifts": "0.5,-1"}, "sigma"),
        (MASS | {"operator": True, "tol": 1e-5}, "tol"),
        (MASS | {"operator": True, "csv": "x.csv"}, "csv"),
        (MASS | {"levels": True}, "levels"),
        (MASS | {"action": "moebius", "ls": 3, "b5": "1,2", "c5": 0.5}, "b5"),
    ],
    "eigen": [
        (EIGEN | {"operator": "staggered"}, "operator"),
        (EIGEN | {"operator": "hermitian", "even_odd": "none"}, "even_odd"),
        (EIGEN | {"count": 5000}, "1 to 1536"),
        (EIGEN | {"compress": "2,2,2,2,12"}, "compress"),
        (EIGEN | {"reconstruct": "12t"}, "18, 12 or 8"),
        *((VECTORS | {"compress": text}, "compress") for text in ("2,2,2,2", "2,2,2,2,24", "3,2,2,2,6", "1,1,1,1,6")),
        (UNIT | {"action": "staggered", "mass": 1, "out": "e.h5", "compress": "2,2,2,2,6"}, "Dirac"),
    ],
    "heatbath": [
        ({"sweeps": 1}, "lattice"),
        (SU3 | {"beta": -1}, "beta"),
        (SU3 | {"start": "cld"}, "did you mean cold?"),
        (SU3 | {"lattice": "4,4,4"}, "lattice"),
        (SU3 | {"lattice": "4096,4096,4096,4096"}, "lattice"),
        (SU3 | {"resume": "auto"}, "resume"),
        (SU3 | {"time_limit": "1:99"}, "time_limit"),
        (SU3 | {"save_every": 1}, "save_every"),
        (SU3 | {"overwrite": True}, "overwrite"),
    ],
    "devices": [({"grid": "7,7,7,7"}, "grid"), ({"policy": "fused"}, "policy"), ({"measure": True}, "measure")],
    "flow": [
        (UNIT | {"format": "ildg"}, "format"),
        (UNIT | {"time": 0.055}, "time"),
        (UNIT | {"every": 0.015}, "every"),
        (UNIT | {"tol": 1e-20}, "tol"),
        (UNIT | {"action": "symanzik", "precision": "single"}, "use double"),
        (UNIT | {"time": 1e12}, "time"),
    ],
    "smear": [
        ({"kind": "stout", "in": "unit:4,4,4,4", "out": "s.ildg", "alpha": 0.5}, "rho"),
        ({"kind": "stout", "in": "unit:4,4,4,4", "out": "s.what"}, "format"),
    ],
    "links": [
        (UNIT | {"u0": 1.0}, "u0"),
        (UNIT | {"action": "asqtad", "epsilon": 0.0}, "epsilon"),
        (UNIT | {"action": "asqtad", "charm": 0.6}, "charm"),
    ],
    "apply": [
        (UNIT | {"name": "nothing"}, "nothing"),
        (UNIT | {"name": "stout4_step"}, "rho"),
        (STAPLE | {"values": {"weight": 1}}, "mu"),
        (STAPLE | {"values": {"weight": 1, "mu": "x", "nu": "5"}}, "nu"),
        (STAPLE | {"values": {"weight": 1, "mu": "x", "nu": "x"}}, "direction"),
        (UNIT | {"name": "jacobi_step", "format": "ildg"}, "format"),
        (UNIT | {"name": "jacobi_step", "out": "l.ildg", "values": {"kappa": 0.1}}, "jacobi_step"),
    ],
    "bench": [
        ({"overwrite": True}, "overwrite"),
        ({"lattice": "4,4,4,4", "only": "nothing"}, "nothing"),
        ({"lattice": "4,4,4,4", "family": "hoping"}, "did you mean hopping?"),
    ],
}
ROWS = [(command, *row) for command, rows in CONTRADICTIONS.items() for row in rows]


@pytest.mark.parametrize(("command", "given", "named"), ROWS, ids=[f"{c}-{n}-{k}" for k, (c, _, n) in enumerate(ROWS)])
def test_what_contradicts_is_refused_in_the_words_of_python(refused, command, given, named):
    error = refused(command, **given)
    assert named == error.member or re.search(rf"(^|\W){re.escape(named)}(\W|$)", str(error)), str(error)
