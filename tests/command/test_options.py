"""No option is accepted and ignored: it belongs to actions, solvers, precisions, and is refused by name elsewhere."""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import BUILD

from generator.emit.action_table import is_offered, solvable_actions
from generator.language import Option, Spelling
from generator.language.parameters import option_name
from generator.operators import RECORDS

TABLE = {option_name(a.name): a for a in solvable_actions() if is_offered(a)}
SPINORS = {name for name, a in TABLE.items() if a.spins == 4}
WALL = {name for name, a in TABLE.items() if (form := RECORDS[a.name].form) is not None and form.has_slices}
DOUBLETS = {name for name, a in TABLE.items() if a.extends}
STAGGERED = set(TABLE) - SPINORS
ALL = set(TABLE)
SOLVERS = {"cg", "cgnr", "cgne", "bicgstab", "bicgstab-l", "gcr", "mr", "block-cg", "eigcg", "gmres-dr", "multigrid"}


def value(option: Option) -> str:
    """One that is in its range."""
    one = f"{min(max(0.2, option.lower), option.upper):g}"
    return ",".join(one for _ in option.numbers) if isinstance(option, Spelling) else one


def needed(action: str, *given: str) -> list[str]:
    """What an action needs beside options that are given."""
    stated = TABLE[action]
    known = {p.name for o in given if (p := stated.options.get(o))}
    known |= {n for s in stated.spellings if s.option in given for n in s.parameters}
    missing = [p for p in stated.parameters if p.default is None and p.name not in known]
    return [word for p in missing for word in (p.option, value(p))]


def taken_by(option: str) -> set[str]:
    """Actions with an option; an action that another one means lends it its own."""
    own = {name for name, a in TABLE.items() if option in a.options}
    return own | {option_name(TABLE[name].extends.name) for name in own & DOUBLETS}


# option -> (values, actions that take it); a value may need another option beside it.
OF_ACTIONS = {
    **{name: ((value(o),), taken_by(name)) for a in TABLE.values() for name, o in a.options.items()},
    "--ls": (("8",), WALL),
    "--flavours": (("0,1",), DOUBLETS),
    "--even-odd": (("asymmetric",), ALL),
    "--batch": (("2",), ALL),
    **{
        option: (given, SPINORS)
        for option, given in {
            "--sink": ("gaussian:1,2",),
            "--smear-links": ("stout:0.1,1",),
            "--basis": ("degrand_rossi",),
        }.items()
    },
}
OF_SOLVERS = {
    "--restart": (("5",), {"gcr"}),
    "--preconditioner": (("mr:4",), {"gcr"}),
    "--bicgstab-l": (("3",), {"bicgstab-l"}),
    "--omega": (("1.1",), {"mr"}),
    "--search": (("40",), {"eigcg", "gmres-dr"}),
    "--keep": (("4",), {"eigcg", "gmres-dr"}),
    "--mg": (("mg.toml",), {"multigrid"}),
    "--mg-load": (("v.h5",), {"multigrid"}),
    "--mg-refresh": (("--mg-load", "v.h5"), {"multigrid"}),
    "--mg-save": (("w.h5",), {"multigrid"}),
}
OF_MIXED = {"--updates": ("defect",), "--delta": ("0.1",)}
EVERYWHERE = {
    *("--deflate", "--time-limit"),
    *("--help", "--gauge", "--lattice", "--action", "--boundary", "--source", "--solver", "--precision"),
    *("--reconstruct", "--tol", "--max-iterations", "--out", "--correlators", "--overwrite", "--device", "--grid"),
    *("--policy", "--json", "--quiet", "--log-level", "--allow-non-su3", "--ignore-checksum", "--field"),
}


class Runner:
    """Runs the command on a configuration that is not there: status 1 means that every option was taken."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str) -> tuple[int, str]:
        run = subprocess.run(
            [BUILD / "bin" / "quarksmith", *arguments], cwd=self.folder, capture_output=True, text=True, check=False
        )
        return run.returncode, run.stderr

    def all(self, cases: list[tuple[tuple[str, ...], str, bool]]) -> None:
        """Cases: arguments, the option in question, whether it belongs there."""
        with ThreadPoolExecutor(4) as pool:
            own = [[a.replace("c.json", f"c{n}.json") for a in case[0]] for n, case in enumerate(cases)]
            results = list(pool.map(lambda arguments: self(*arguments), own))
        for (arguments, option, belongs), (status, message) in zip(cases, results, strict=True):
            where = f"{' '.join(arguments)}\n{message}"
            if belongs:
                assert status == 1 and "missing.ildg" in message, where
            else:
                named = re.search(r"error: (--[\w-]+) ", message)
                assert status == 2 and named and named[1] in arguments[arguments.index(option) :], where


@pytest.fixture
def runner(quarksmith):
    for name in ("mg.toml", "v.h5"):  # files of options are looked for before the configuration
        (quarksmith.folder / name).touch()
    return Runner(quarksmith.folder)


def options_of(runner: Runner, command: str) -> set[str]:
    run = subprocess.run([BUILD / "bin" / "quarksmith", command, "--help"], capture_output=True, text=True, check=True)
    return set(re.findall(r"^ {2}(?:-\w,)?(--[\w-]+)", run.stdout, flags=re.M))


def propagator(action: str, *more: str) -> tuple[str, ...]:
    base = ("propagator", "--gauge", "missing.ildg", "--correlators", "c.json", "--action", action)
    return (*base, *needed(action, *more), *more)


def test_every_option_is_known_to_this_test(runner):
    known = set(OF_ACTIONS) | set(OF_SOLVERS) | set(OF_MIXED) | EVERYWHERE
    assert options_of(runner, "propagator") == known
    bench = {
        "--batch",
        "--shifts",
        "--criterion",
        "--look-ahead",
        "--operator",
        "--repeat",
        "--seed",
        "--csv",
        "--levels",
    }
    assert options_of(runner, "solve-bench") - known == bench - {"--batch"} | {"--history"}


def test_options_of_actions(runner):
    runner.all(
        [
            (propagator(action, option, *value), option, action in actions)
            for option, (value, actions) in OF_ACTIONS.items()
            for action in sorted(ALL)
        ]
    )


def test_options_of_solvers(runner):
    cases = []
    for option, (value, solvers) in OF_SOLVERS.items():
        for solver in sorted(SOLVERS):
            cases.append((propagator("clover", "--solver", solver, option, *value), option, solver in solvers))
        for action in sorted(ALL):  # the default method of an action
            cases.append((propagator(action, option, *value), option, False))
    runner.all(cases)


def test_options_of_mixed_precision(runner):
    runner.all(
        [
            (propagator(action, "--precision", precision, option, *value), option, "-" in precision)
            for option, value in OF_MIXED.items()
            for precision in ("double", "single", "double-half", "double-single")
            for action in sorted(ALL)
        ]
    )


def test_several_masses_are_for_staggered_quarks(runner):
    runner.all(
        [
            (("propagator", *base, "--action", action, *rest, "--mass", "0.1,0.2"), "--mass", action in STAGGERED)
            for base in [("--gauge", "missing.ildg", "--correlators", "c.json")]
            for action in sorted(ALL)
            for rest in [needed(action, "--mass")]
        ]
    )


GAUGE = ("--gauge", "unit:4,4,4,4")
MASS = ("--mass", "1")
REFUSED = [
    (("propagator", "--gauge", "unit:4,4,4,4", *MASS, "--correlators", "c.json", "--lattice", "4,4,4,4"), "--lattice"),
    (("propagator", *GAUGE, *MASS, "--correlators", "c.json", "--policy", "nonsense"), "nonsense"),
    (("propagator", *GAUGE, *MASS, "--correlators", "c.json", "--policy", "fused"), "--policy"),
    (("propagator", *GAUGE, *MASS, "--out", "p.h5", "--sink", "gaussian:1,2"), "--sink"),
    (("propagator", *GAUGE, *MASS, "--out", "x", "--correlators", "./x"), "--out and --correlators both write"),
    (("propagator", *GAUGE, *MASS, "--correlators", "c.h5"), "the ending is that of a propagator"),
    (("propagator", *GAUGE, *MASS, "--out", "p.json"), "the ending is that of JSON"),
    (("propagator", *GAUGE, *MASS, "--action", "clover", "--csw-r", "1", "--correlators", "c.json"), "--csw-t"),
    (("propagator", *GAUGE, *MASS, "--action", "clover", "--csw-t", "1", "--correlators", "c.json"), "--csw-r"),
    (("propagator", *GAUGE, "--mass", "nan", "--correlators", "c.json"), "--mass"),
    (("propagator", *GAUGE, "--action", "naive", "--correlators", "c.json"), "--action naive needs --mass MASS: mass"),
    (
        ("propagator", *GAUGE, *MASS, "--action", "naive", "--mu", "11", "--correlators", "c.json"),
        "--mu 11 of action naive: use a number from -10 to 10",
    ),
    (("propagator", *GAUGE, *MASS, "--action", "naiv", "--correlators", "c.json"), "use wilson, clover"),
    (
        ("solve-bench", *GAUGE, *MASS, "--action", "staggered", "--solver", "multishift"),
        "action staggered: shifted systems",
    ),
    (("propagator", *GAUGE, "--kappa", "inf", "--correlators", "c.json"), "--kappa"),
    (("propagator", *GAUGE, *MASS, "--anisotropy", "inf,1", "--correlators", "c.json"), "--anisotropy"),
    (
        ("propagator", *GAUGE, *MASS, "--correlators", "c.json", "--field", "phi=1"),
        "--field phi: action wilson takes no field",
    ),
    (("propagator", *GAUGE, *MASS, "--correlators", "c.json", "--field", "phi"), "--field 'phi' is not NAME=FILE"),
    (("propagator", *GAUGE, *MASS, "--boundary", "0,0,0,nan", "--correlators", "c.json"), "--boundary"),
    (("propagator", *GAUGE, *MASS, "--tol", "2", "--correlators", "c.json"), "--tol"),
    (("solve-bench", *GAUGE, *MASS, "--solver", "cg", "--shifts", "1"), "--shifts"),
    (("solve-bench", *GAUGE, *MASS, "--solver", "multishift", "--batch", "2"), "--batch"),
    (("solve-bench", *GAUGE, *MASS, "--operator", "--tol", "1e-5"), "--tol"),
    (("solve-bench", *GAUGE, *MASS, "--operator", "--csv", "x.csv"), "--csv"),
    (("solve-bench", *GAUGE, *MASS, "--levels"), "--levels"),
    (("solve-bench", *GAUGE, *MASS, "--overwrite"), "--overwrite"),
    (("info", "x", "--policy", "fused"), "--policy"),
    (("info", "x", "--overwrite"), "--overwrite"),
    (("convert", "x", "y.ildg", "--device", "cpu"), "--device"),
    (("convert", "x", "y.ildg", "--bits", "16"), "--bits"),
    (("devices", "--grid", "7,7,7,7"), "--grid"),
    (("devices", "--policy", "fused"), "--policy"),
    (("devices", "--measure"), "--measure"),
    (("heatbath", "--lattice", "4,4,4,4", "--sweeps", "-2"), "--sweeps"),
    (("heatbath", "--lattice", "4,4,4,4", "--sweeps", "2", "--save-every", "1"), "--save-every"),
    (("heatbath", "--lattice", "4,4,4,4", "--sweeps", "2", "--overwrite"), "--overwrite"),
    (("heatbath", "--lattice", "4,4,4,4", "--sweeps", "2", "--beta", "nan"), "--beta"),
    (("flow", "unit:4,4,4,4", "--format", "ildg"), "--format"),
    (("flow", "unit:4,4,4,4", "--time", "0.055"), "no multiple of --step"),
    (("flow", "unit:4,4,4,4", "--tol", "1e-20"), "--tol 1e-20; use at least 1e-12"),
    (("flow", "unit:4,4,4,4", "--action", "symanzik", "--precision", "single"), "use double"),
    (("flow", "unit:4,4,4,4", "--time", "1e12"), "--time"),
    (("flow", "unit:4,4,4,4", "--time", "inf"), "--time"),
    (("flow", "unit:4,4,4,4", "--precision", "half"), "--precision"),
    (("smear", "stout", "unit:4,4,4,4", "s.ildg", "--rho", "nan"), "--rho"),
    (("smear", "stout", "unit:4,4,4,4", "s.ildg", "--alpha", "0.5"), "smear stout takes --rho"),
    (("links", "unit:4,4,4,4", "--u0", "1"), "--u0"),
    (("links", "unit:4,4,4,4", "--action", "asqtad", "--epsilon", "0"), "--epsilon"),
    (("apply", "jacobi_step", "--gauge", "unit:4,4,4,4", "--format", "ildg"), "--format"),
    (("apply", "jacobi_step", "--gauge", "unit:4,4,4,4", "--out", "l.ildg", "kappa=0.1"), "returns no links"),
    (("bench", "--overwrite"), "--overwrite"),
    (
        ("model", "--lattice", "4,4,4,4", "--measured", "x", "--link", "1,1", "--policy", "fused"),
        "--policy",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED, ids=[" ".join(a) for a, _ in REFUSED])
def test_what_would_do_nothing_is_refused(quarksmith, tmp_path, arguments, message):
    assert message in quarksmith.refuses(*arguments)
    assert not list(tmp_path.iterdir())
