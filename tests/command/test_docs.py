"""Every command of README.md and docs/: run on small lattices, or checked for what it names where it cannot run."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BUILD, ROOT, Command
from page_output import missing, parts
from tree import tracked

from generator.__main__ import _parser

DOCUMENTS = [ROOT / "README.md", *tracked("docs/*.md")]
SHELLS = ("", "sh", "bash", "shell", "console")
"""Languages of fenced blocks whose lines may be commands."""
RUN = ("quarksmith", "mpirun", "make", ".venv/bin/python")
OTHERS = ("apt-get", "cd", "cmake", "cp", "export", "git", "pip", "python", "python3", "source", "srun", "sudo")
"""Commands that a shell or a bare machine has, whether this one does or not."""

CHECKED = (
    (r"^srun |^sudo srun", "needs Slurm"),
    (r"^(export|source) ", "sets the environment of the shell"),
    (
        r"^(cmake|docker|apptainer|conda|(\.venv/bin/)?pip) ",
        "builds the tree, as make does, which continuous integration runs",
    ),
    (r"^(sudo )?apt-get ", "needs root and a network"),
    (r"^QUARKSMITH_KERNELS=", "needs a module; test_kernel.py loads one"),
    (r"-m generator (kernel|expression) ", "compiles; test_kernel.py and test_expression.py run it"),
    (r"-m generator sweep", "compiles for minutes, most on a GPU; test_sweep.py runs it"),
    (r"^quarksmith sweep ", "needs what a sweep packed; test_sweep.py runs it"),
    (r"^mpirun .*--map-by numa", "needs a host with several NUMA nodes"),
    (r"tools/(measure_host\.sh|(scaling|batch)_tables?\.py) ", "needs GPUs; test_gpu_tools.py runs it"),
    (r"tools/plots \w+ \S*generated/tuned|-m generator report ", "reads all evidence; test_report.py draws it"),
    (r"(masses|analysis/\w+)\.(toml|py)\b", "needs ensembles; test_masses.py and test_analysis.py run it"),
    (r"quarksmith measure (nucleon_charge|loop|flow|potential|gluon)\.toml", "test_analysis.py runs it"),
    (r"quarksmith_ranks_tests$", "takes minutes; tools/test.sh runs it"),
    (r"^git show .*samples", "needs the history of this tree"),
    (r"^make ", "takes minutes, installs or tests the tree; continuous integration runs it"),
)
"""(commands, why they do not run here): their targets and options must exist."""

PLACEHOLDERS = (
    (r"\bbuild/bin/quarksmith\b", "quarksmith"),
    (r"\[[^]]*\]", ""),  # what may be left out
    (r" \| man -l -$", ""),
    (r"( \| \S+)+$", ""),  # alternatives: the first
    (r"x,y,z,t", "0,0,0,0"),
    (r"(kappa|alpha|rho),N", "0.1,2"),
    (r"\b(run_00300\.ildg|FILE|CFG|IN)(?=\s|$)", "run_00300.ildg"),
    (r"\bOUT(?=\s|$)", "out.ildg"),
    (r"((?<!model )--lattice |weak:[\d.]+:|hot:|peer-random:)\d+,\d+,\d+,\d+", r"\g<1>4,4,4,8"),
    (r"unit:8,4,4,24", "unit:4,4,4,16"),
    (r"(gaussian:[\d,]+:[\d.]+),\d+", r"\1,2"),
    (r"--sweeps \d+", "--sweeps 2"),
    (r"--profile full", "--profile dev"),
    (r"examples/(?=hmc_\w+\.toml)", ""),  # copies with few trajectories
    (r"_00010\.", "_00002."),
    (r"--save-every \d+", "--save-every 1"),
    (r"--time [\d.]+", "--time 0.02"),
    (r"--within \d+", "--within 1"),
    (r"--ls \d+", "--ls 2"),
    (r"--reversibility \d+", "--reversibility 1"),
    (r"\$(CONDA_PREFIX|HOME)", "prefix"),
    (r"mpirun -n \d+", "mpirun -n 2"),
    (r"--(grid|split) [\d,]+", r"--\1 1,1,1,2"),
    (r"(?<=propagator)(.*?) \.\.\.", r"\1"),  # the other options: NEEDED
    (r"my\.toml", str(ROOT / "generator" / "profiles" / "dev.toml")),
    (r"(?<=\s)(?=(generated|examples|tools)/)", f"{ROOT}/"),
    (r"(?<=overlap\.py) ", f" --library {BUILD}/shared/libquarksmith.so "),
)
"""(text of the documents, what stands for it here)."""
NEEDED = {
    "gauge": "--gauge run_00300.ildg",
    "mass|kappa": "--kappa 0.12",
    "out|correlators": "--correlators corr.json",
}
"""Options that `propagator ...` leaves to the reader."""
QUICK = {
    "bench": {"--lattice": "4,4,4,8", "--seconds": "0.001", "--only": "double"},
    "accuracy": {"--lattice": "4,4,4,4"},
    "propagator": {"--tol": "1e-4"},
    "solve-bench": {"--repeat": "1", "--tol": "1e-4"},
}
"""Options that make a command quick, unless they are given."""


def commands(text: str) -> list[str]:
    """Lines of the code blocks of a document that a shell would run; continued ones joined, comments left out."""

    def indented(block: re.Match[str]) -> str:
        return "\n" + "".join(f"    {line}\n" for line in block[2].splitlines() if block[1] in SHELLS)

    text = re.sub(r"^```(\w*)\n(.*?)^```$", indented, text, flags=re.M | re.S)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    code = [line[4:] for line in lines if line.startswith("    ")]
    return [re.sub(r"\s+# .*$", "", line) for line in code if is_command(line)]


def is_command(line: str) -> bool:
    """Whether the first word, settings of variables left out, is one that a shell would find."""
    words = [w for w in line.split() if not re.fullmatch(r"[A-Z_]+=\S+", w)]
    if not words or (len(words) > 1 and words[1] in ("=", "+=")) or re.search(r"[;{]$|error:", line):
        return False
    name = words[0].removeprefix("build/bin/")
    known = name in RUN + OTHERS or name.startswith("./")
    return known or (re.fullmatch(r"[\w./-]+", name) is not None and shutil.which(name) is not None)


def small(line: str) -> str:
    """The same command on a small lattice."""
    for pattern, text in PLACEHOLDERS:
        line = re.sub(pattern, text, line)
    for name, options in QUICK.items():
        if re.search(rf"quarksmith {name}\b", line) and "--operator" not in line:
            given = [f"{o} {v}" if v else o for o, v in options.items() if f"{o} " not in f"{line} "]
            line = " ".join([line, *given])
    for name, needed in NEEDED.items() if "quarksmith propagator" in line else ():
        line += "" if re.search(rf"--({name}) ", line) else f" {needed}"
    if re.search(r"quarksmith .*(--(out|json|csv|correlators|fat)|convert|smear) ", line):
        line += " --overwrite"  # documents use a name more than once
    return line


class Runner:
    """Runs the commands of one document in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = {"quarksmith": str(BUILD / "bin" / "quarksmith"), ".venv/bin/python": sys.executable}
        self.environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}  # small lattices

    def __call__(self, line: str) -> str:
        """Runs a line and gives what it prints, or checks it; anything else is a failure of the document."""
        why = next((why for pattern, why in CHECKED if re.search(pattern, small(line))), "")
        words = [os.path.expandvars(w) for w in shlex.split(small(line))]
        if why or (words[0] == "mpirun" and shutil.which("mpirun") is None):
            self.check(line, words)
            return ""
        assert words[0] in RUN, f"`{line}` is neither run nor known here: add a rule, or its reason to CHECKED"
        if words[0] == "mpirun":
            words[1:1] = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
        words = [self.programs.get(w, w) for w in words]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, env=self.environment, timeout=120)
        assert done.returncode == 0, f"{line}\nas {shlex.join(words)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stdout + done.stderr

    def check(self, line: str, words: list[str]) -> None:
        """That a target, or an option, exists."""
        if words[0] == "make":
            done = subprocess.run(["make", "-n", *words[1:]], cwd=ROOT, capture_output=True, text=True)
            assert done.returncode == 0, f"{line}\n{done.stderr}"
        elif words[1:3] == ["-m", "generator"]:
            _parser().parse_args(words[3:])
        elif "quarksmith" in words and words[0] not in ("docker", "apptainer", "cmake"):
            name, *options = words[words.index("quarksmith") + 1 :] or ["--help"]
            if name != "...":
                shown = subprocess.run([self.programs["quarksmith"], name, "--help"], capture_output=True, text=True)
                assert shown.returncode == 0, f"{line}\n{shown.stderr}"
                missing = [o for o in options if o.startswith("--") and o not in shown.stdout]
                assert not missing, f"{line}: `quarksmith {name}` has no {', '.join(missing)}"


@pytest.fixture(scope="module")
def configuration(tmp_path_factory):
    """One with links so rough that no quark of the documents is light on it."""
    folder = tmp_path_factory.mktemp("configuration")
    start = ("--lattice", "4,4,4,8", "--beta", "5.4", "--start", "hot", "--overrelax", "0")
    Command(folder)("heatbath", *start, "--sweeps", "10", "--out", "run", "--quiet")
    return folder / "run_00010.ildg"


@pytest.mark.parametrize("path", [p for p in DOCUMENTS if commands(p.read_text())], ids=lambda p: p.name)
def test_every_command_of_the_documents_works(path, configuration, tmp_path):
    shutil.copy(configuration, tmp_path / "run_00300.ildg")
    for run in (ROOT / "examples").glob("hmc_*.toml"):
        few = re.sub(r"^count = \d+", "count = 2", run.read_text(), flags=re.M)
        (tmp_path / run.name).write_text(re.sub(r"^steps = \d+", "steps = 1", few, flags=re.M))
    before = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True).stdout
    run = Runner(tmp_path)
    for prose, lines in parts(path.read_text()):
        printed = [run(line) for line in commands(prose)]
        if lines and all(printed):
            assert missing(lines, "".join(printed), exact=False) == []
    after = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True).stdout
    assert before == after, "a documented command wrote into the tree of sources"


def test_commands_are_found_and_unknown_ones_refused(tmp_path):
    found = commands(
        "Text with `make nothing`.\n\n    ls -l demo   # here\n    x = 1\n    int a;\n\n"
        "```sh\nquarksmith info a \\\n    b\n```\n\n```cpp\nls;\n```\n\n    A=b make gone\n"
    )
    assert found == ["ls -l demo", "quarksmith info a b", "A=b make gone"]
    with pytest.raises(AssertionError, match="neither run nor known"):
        Runner(tmp_path)(found[0])
    with pytest.raises(AssertionError, match="quarksmith info"):
        Runner(tmp_path)("quarksmith info missing.ildg")
    with pytest.raises(AssertionError, match="gone"):
        Runner(tmp_path)("make gone")
    with pytest.raises(AssertionError, match="has no --nothing"):
        Runner(tmp_path)("srun quarksmith bench --nothing")
    with pytest.raises(SystemExit):
        Runner(tmp_path)(".venv/bin/python -m generator sweep --nothing")
