"""No argument is taken and ignored: it belongs to actions, solvers, precisions, and is refused by name elsewhere.

What is wrong with a member alone is found by tests/refusals_test.cpp, of all members at all doors.
"""

import pytest

from generator.emit.action_table import is_offered, solvable_actions
from generator.language import Alternative, Option
from generator.language.parameters import option_name
from generator.operators import RECORDS

TABLE = {option_name(a.name): a for a in solvable_actions() if is_offered(a)}
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
    *("reconstruct", "tol", "max_iterations", "out", "correlators", "overwrite", "device", "grid", "field"),
    *("policy", "json", "quiet", "log_level", "allow_non_su3", "ignore_checksum"),
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
TWISTED = MASS | {"action": "twisted-mass"}
SU3 = {"lattice": "4,4,4,4", "sweeps": 1}
CONTRADICTIONS = [
    # command, arguments, what the one line names
    ("propagator", UNIT, "exactly one of mass and kappa"),
    ("propagator", MASS | {"kappa": 0.1}, "exactly one of mass and kappa"),
    ("propagator", UNIT | {"kappa": -0.1}, "kappa -0.1"),
    ("propagator", MASS | {"mass": "nan"}, "mass: 'nan'"),
    ("propagator", UNIT | {"action": "naive"}, "naive needs mass"),
    ("propagator", MASS | {"action": "naive", "mu": 11}, "mu 11 of action naive: use a number from -10 to 10"),
    ("propagator", MASS | {"action": "clovr"}, "did you mean clover?"),
    ("propagator", TWISTED, "twisted-mass needs mu"),
    ("propagator", MASS | {"action": "twisted-clover", "mu": 1}, "exactly one of csw_r and csw"),
    ("propagator", MASS | {"action": "clover", "csw_r": 1}, "csw_t"),
    ("propagator", MASS | {"action": "clover", "csw_t": 1}, "csw_r"),
    ("propagator", TWISTED | {"mu": 0.1, "flavours": "0,1"}, "two flavours, which epsilon makes"),
    ("propagator", TWISTED | {"mu": 0.1, "epsilon": 0.1, "flavours": "0,2"}, "flavours '0,2'"),
    ("propagator", TWISTED | {"mu": 0, "epsilon": 4.3, "even_odd": "symmetric"}, "no even-odd form"),
    ("propagator", UNIT | {"mass": "-4", "even_odd": "symmetric"}, "no even-odd form"),
    ("propagator", MASS | {"solver": "gmres"}, "did you mean gmres-dr?"),
    ("propagator", MASS | {"precision": "triple"}, "precision 'triple'"),
    ("propagator", MASS | {"precision": "double-"}, "precision ''"),
    ("propagator", MASS | {"precision": "half-single"}, "single must not be higher than half"),
    ("propagator", MASS | {"precision": "double-single-half"}, "3 parts"),
    ("propagator", MASS | {"updates": "never", "precision": "double-half"}, "'never'"),
    ("propagator", MASS | {"reconstruct": "14"}, "'r14'"),
    ("propagator", MASS | {"basis": "chiral"}, "basis 'chiral'"),
    ("propagator", MASS | {"even_odd": "odd"}, "'odd'"),
    ("propagator", MASS | {"boundary": "1,1"}, "boundary"),
    ("propagator", MASS | {"boundary": "antiperiodc"}, "did you mean antiperiodic?"),
    ("propagator", MASS | {"boundary": "1e300,0,0,0"}, "boundary phase 1e+300"),
    ("propagator", MASS | {"boundary": "0,0,0,nan"}, "boundary"),
    ("propagator", MASS | {"anisotropy": "2"}, "anisotropy '2' is not xi0,nu"),
    ("propagator", MASS | {"anisotropy": "0,1"}, "xi0 0; use a number from 0.001"),
    ("propagator", MASS | {"anisotropy": "inf,1"}, "anisotropy: 'inf'"),
    ("propagator", MASS | {"source": "point:0,0,0,9"}, "coordinate t = 9"),
    ("propagator", MASS | {"source": "gausian:0,0,0,0:4,30"}, "did you mean gaussian?"),
    ("propagator", MASS | {"source": "gaussian:0,0,0,0:2,0"}, "N = 0"),
    ("propagator", MASS | {"sink": "jacobbi:0.2,3"}, "did you mean jacobi?"),
    ("propagator", MASS | {"smear_links": "stut:0.1,3"}, "did you mean stout?"),
    ("propagator", MASS | {"gauge": "unit:4,4,3,4"}, "extent 3 is not an even number"),
    ("propagator", MASS | {"gauge": "weak:0.1:4,4,4,4"}, "gauge: 'weak:0.1:4,4,4,4'"),
    ("propagator", MASS | {"gauge": "hot:4,4,4,4:-1"}, "seed -1"),
    ("propagator", MASS | {"gauge": "unt:4,4,4,4"}, "gauge unt:4,4,4,4: there is no such file; did you mean"),
    ("propagator", MASS | {"device": "cppu"}, "did you mean cpu?"),
    ("propagator", MASS | {"lattice": "4,4,4,4"}, "lattice 4,4,4,4"),
    ("propagator", MASS | {"policy": "nonsense"}, "nonsense"),
    ("propagator", MASS | {"policy": "fused"}, "policy fused belongs to several ranks"),
    ("propagator", MASS | {"field": {"phi": 1}}, "field phi: action wilson takes no field"),
    ("propagator", MASS | {"out": "x", "correlators": "./x"}, "out and correlators both write"),
    ("propagator", MASS | {"correlators": "c.h5"}, "the ending is that of a propagator"),
    ("propagator", MASS | {"out": "p.json"}, "the ending is that of JSON"),
    ("solve_bench", MASS | {"solver": "bicgstab,multishft"}, "did you mean multishift?"),
    ("solve_bench", MASS | {"precision": "double,duble"}, "did you mean double?"),
    ("solve_bench", MASS | {"action": "staggered", "solver": "multishift"}, "shifted systems"),
    ("solve_bench", MASS | {"solver": "multishift", "batch": "2"}, "batch"),
    ("solve_bench", MASS | {"operator": True, "tol": 1e-5}, "tol"),
    ("solve_bench", MASS | {"operator": True, "csv": "x.csv"}, "csv"),
    ("solve_bench", MASS | {"levels": True}, "levels"),
    ("solve_bench", MASS | {"overwrite": True}, "overwrite"),
    ("heatbath", {"sweeps": 1}, "needs lattice X,Y,Z,T, or resume FILE"),
    ("heatbath", SU3 | {"beta": -1}, "beta"),
    ("heatbath", SU3 | {"start": "cld"}, "did you mean cold?"),
    ("heatbath", SU3 | {"lattice": "4,4,4"}, "lattice: '4,4,4'"),
    ("heatbath", SU3 | {"lattice": "4096,4096,4096,4096"}, "more than 2^31 - 1 sites"),
    ("heatbath", SU3 | {"resume": "auto"}, "resume auto belongs to out PREFIX"),
    ("heatbath", SU3 | {"time_limit": "1:99"}, "time_limit 1:99"),
    ("heatbath", SU3 | {"save_every": 1}, "save_every"),
    ("heatbath", SU3 | {"overwrite": True}, "overwrite"),
    ("info", {"file": "x", "overwrite": True}, "overwrite"),
    ("devices", {"grid": "7,7,7,7"}, "grid"),
    ("devices", {"policy": "fused"}, "policy"),
    ("devices", {"measure": True}, "measure"),
    ("flow", UNIT | {"format": "ildg"}, "format"),
    ("flow", UNIT | {"time": 0.055}, "no multiple of step"),
    ("flow", UNIT | {"tol": 1e-20}, "tol 1e-20; use at least 1e-12"),
    ("flow", UNIT | {"action": "symanzik", "precision": "single"}, "use double"),
    ("flow", UNIT | {"time": 1e12}, "time"),
    ("smear", {"kind": "stout", "in": "unit:4,4,4,4", "out": "s.ildg", "alpha": 0.5}, "smear stout takes rho"),
    ("links", UNIT | {"u0": 1.0}, "u0"),
    ("links", UNIT | {"action": "asqtad", "epsilon": 0.0}, "epsilon"),
    ("apply", UNIT | {"name": "jacobi_step", "format": "ildg"}, "format"),
    ("apply", UNIT | {"name": "jacobi_step", "out": "l.ildg", "values": {"kappa": 0.1}}, "returns no links"),
    ("bench", {"overwrite": True}, "overwrite"),
    ("bench", {"lattice": "4,4,4,4", "only": "nothing"}, "only nothing"),
    ("bench", {"lattice": "4,4,4,4", "family": "hoping"}, "did you mean hopping?"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "arguments", "named"), CONTRADICTIONS, ids=[c[2] for c in CONTRADICTIONS])
def test_what_contradicts_is_one_line_in_the_words_of_python(qs, tmp_path, monkeypatch, command, arguments, named):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(qs.UsageError) as caught:
        qs._quarksmith.run(command.replace("_", "-"), arguments, None)
    assert named in str(caught.value) and " --" not in str(caught.value) and "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())
