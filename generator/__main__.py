"""`python -m generator`: list, explain and cost kernels; generate the sources of a profile."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from .errors import SpecError
from .folders import ROOT
from .targets import GPU, HOST, TARGETS
from .usage import Parser


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; returns the exit status (0 done, 1 failed, 2 wrong use)."""
    options = _parser().parse(arguments)
    try:
        from .commands import run  # not before: what a command needs takes longer to read than a wrong option
    except ModuleNotFoundError as missing:
        sys.exit(f"generator: error: {sys.executable} lacks {missing.name}; after `make setup` use .venv/bin/python")
    except SpecError as error:
        print(f"generator: error: {error}", file=sys.stderr)
        return 2
    return run(options)


def _parser() -> Parser:
    parser = Parser(prog="python -m generator", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, help_text: str, profile: str = "default") -> Parser:
        sub = commands.add_parser(name, help=help_text, description=help_text)
        sub.add_argument("--profile", default=profile, help=f"name or .toml file (default: {profile or 'all'})")
        sub.set_defaults(command=name)
        return sub

    command("list", "Print the names of all kernels of a profile.")
    explain = command("explain", "Describe a kernel or an action, or tell what each axis of a profile costs.")
    explain.add_argument("name", nargs="?", help="a kernel, an action, or `actions`; without it, the profile")
    cost = command("cost", "Print flops, bytes and the roofline of a kernel.")
    cost.add_argument("name")
    cost.add_argument("--bandwidth", type=float, default=4.25e12, help="bytes/s (default: 4.25e12, one H200)")
    generate = command("generate", "Render the sources of a profile.")
    generate.add_argument("--out", type=Path, default=ROOT / "generated", help="folder (default: generated/)")
    generate.add_argument("--devices", metavar="A,B", help="GPUs whose tuned variants are rendered (all), or none")
    generate.add_argument("--sample", action="store_true", help="of kernels of GPUs a sample, to see that they compile")
    generate.add_argument(
        "--tuned", type=Path, metavar="DIR", help="results of this machine, besides generated/tuned and OUT/tuned"
    )
    kernel = command("kernel", "Compile one kernel and test it with the programs of a build.", "full")
    _add_kernel_options(kernel)
    action = command("action", "Compile the statement of an action in a file: what `--action FILE` does.")
    action.add_argument("file", help="Python file with a class or function marked @action (docs/howto-action.md)")
    action.add_argument("--build", type=Path, default=ROOT / "build", help="folder of the build (default: build/)")
    expression = command("expression", "Compile the lattice expressions of a file, once; run one of them.")
    _add_expression_options(expression)
    text = "Write one kernel, a reference and a timing loop as one self-contained file."
    export = command("export", text, "full")
    export.add_argument("name", help="a hopping or update kernel of the profile, or a variant of it")
    export.add_argument("--target", choices=tuple(TARGETS), help=f"default: by the ending of --out, else {GPU.name}")
    export.add_argument("--lattice", default="", metavar="X,Y,Z,T", help="what it runs on unless told otherwise")
    export.add_argument("--out", type=Path, metavar="FILE", help="default: NAME and the target's ending, here")
    _add_evidence_commands(command)
    return parser


def _add_evidence_commands(command: Callable[..., Parser]) -> None:
    """Adds the commands that measure kernels, and keep and report results."""
    text = "Print what sweeps found, and what each axis was worth, as Markdown tables."
    summary = command("report", text, "")
    summary.add_argument("--device", default="", help="as in the names of generated/tuned (default: all)")
    summary.add_argument("--samples", type=Path, metavar="DIR", help="a packed folder with all its results instead")
    summary.add_argument(
        "--copy", type=float, default=0, metavar="GB/S", help="copy bandwidth, for fractions of the floor"
    )
    policies = command("policies", "Keep the fastest policies between ranks, from results of `quarksmith scaling`.")
    policies.add_argument(
        "results", type=Path, nargs="+", metavar="FILE", help="written by `quarksmith scaling --json`"
    )
    policies.add_argument(
        "--out", type=Path, default=ROOT / "generated", help="folder of the evidence (default: generated/)"
    )
    given = command("contribute", "Add what `make tune` found on this machine to generated/tuned.", "")
    given.add_argument("results", type=Path, metavar="DIR", help="folder of the results, as build/tuned")
    given.add_argument(
        "--out", type=Path, default=ROOT / "generated", help="folder of the evidence (default: generated/)"
    )
    sweep = command("sweep", "Compile, compare and time candidates of the kernels of a profile; keep the best.")
    _add_sweep_options(sweep)


def _add_kernel_options(kernel: argparse.ArgumentParser) -> None:
    kernel.add_argument("name", nargs="?", help="any kernel of the profile")
    text = "instead of a name: a [[kernel]] of a profile, with one value an axis; may be given again"
    kernel.add_argument("--row", metavar="TEXT", action="append", help=text)
    kernel.add_argument("--build", type=Path, default=ROOT / "build", help="folder of the build (default: build/)")
    kernel.add_argument("--cpu", choices=list(HOST.tables), help="instruction set (default: all of the build)")


def _add_expression_options(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("file", type=Path, help="Python file with functions marked @expression (docs/expressions.md)")
    sub.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these of its expressions (default: all)")
    sub.add_argument("--precision", default="double", help="double (default), single or half")
    sub.add_argument("--links", default="18", help="reals a link: 18 (default), 12 or 8")
    sub.add_argument("--spins", type=int, default=4, help="colour vectors a site of spinor fields, 4 (default) or 1")
    sub.add_argument("--basis", default="non_relativistic", help="of matrices in spin (default: non_relativistic)")
    sub.add_argument("--build", type=Path, default=ROOT / "build", help="folder of the build (default: build/)")
    sub.add_argument("--target", choices=("all", *TARGETS), default="all", help="default: all of the build")
    sub.add_argument("--test", action="store_true", help="compare with the reference on every device there is")
    sub.add_argument(
        "--run", dest="apply", nargs=argparse.REMAINDER, metavar="...", help="then `quarksmith apply` with what follows"
    )


def _add_sweep_options(sweep: argparse.ArgumentParser) -> None:
    sweep.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="kernels with one of these in their name")
    sweep.add_argument(
        "--stale", action="store_true", help="only kernels without up-to-date measurements on a device of this target"
    )
    sweep.add_argument("--part", default="1/1", metavar="K/N", help="part K of N of the kernels: sweeps side by side")
    sweep.add_argument("--quick", action="store_true", help="launch numbers alone, in blocks of 128 threads")
    sweep.add_argument("--budget", default="", help="time for measuring, as 90s, 10m or 1h")
    sweep.add_argument("--within", default="", help="time for the whole sweep: the most important kernels first")
    sweep.add_argument(
        "--lattice", default="", help="X,Y,Z,T of large launches (default: 32,32,32,64; CPU 32,32,32,16)"
    )
    sweep.add_argument("--pack", type=Path, metavar="DIR", help="stop after compiling into DIR")
    sweep.add_argument("--collect", type=Path, metavar="DIR", help="only read the results of a packed folder")
    sweep.add_argument("--build", type=Path, default=ROOT / "build", help="folder of the build that measures")
    sweep.add_argument("--device", default=GPU.name, help=f"{', '.join(TARGETS)}, or NAME:N (default: {GPU.name})")
    known = ", ".join(f"{t.name} {t.compiler.architecture}" for t in TARGETS.values() if t.compiler)
    sweep.add_argument("--arch", default="", help=f"architecture to compile for (default: {known})")
    sweep.add_argument("--out", type=Path, help="folder of the results, OUT/tuned (default: that of --build)")
    sweep.set_defaults(default_of=sweep.get_default)


if __name__ == "__main__":
    sys.exit(main())
