"""One kernel as one self-contained file: the kernel, a plain reference, a comparison and a timing loop."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from ..errors import SpecError
from ..folders import ROOT
from ..operators import kernel
from ..plan import body_path, exists_on
from ..profile import Profile
from ..shapes import SHAPES
from ..spec import KernelSpec
from ..targets import TARGETS, Target
from .harness import harness
from .render import render, render_files, render_group

HEADERS = (
    "algorithm",
    "array",
    "chrono",
    "cmath",
    "complex",
    "cstdio",
    "cstdlib",
    "cstring",
    "memory",
    "utility",
    "vector",
)
"""Standard headers of the harness."""
OF_OTHERS = ("random", "slices", "walk", "unitary", "block", "gauge_update")
"""Headers in runtime/kernels of families that cannot be exported."""


def find_exported(profile: Profile, name: str, target: Target) -> KernelSpec:
    """The record of a kernel or of a variant of one, such as `wilson_double_r12_nr_n1__box_stream_b256m1`.

    Raises:
        SpecError: no such kernel, a shape that the target lacks, or a family without a reference here.
    """
    spec = next((s for s in profile.kernels if s.name == name), None) or _variant(profile, name)
    operator = spec.operator
    if operator.reach > 1:
        raise SpecError(f"kernel {name} reads two link fields, the programs of exported files know one; take staggered")
    if operator.family not in ("hopping", "update"):
        raise SpecError(f"kernel {name} is of family {operator.family}; families hopping and update can be exported")
    if operator.slots:
        raise SpecError(
            f"kernel {name} takes its coefficients from the scalars of a solver on the device; export one that takes "
            "numbers, such as axpby_double"
        )
    known = [t for t in TARGETS.values() if _is_for(spec, t)]
    if target not in known:
        names = " or ".join(t.name for t in known)
        raise SpecError(f"kernel {name} is a variant for another target; use --target {names}")
    return spec


def _is_for(spec: KernelSpec, target: Target) -> bool:
    """Whether a kernel or a variant can be one of a target."""
    launched = not spec.variant or (spec.block > 0) == (target.threads is not None)
    return launched and set(spec.shape) <= set(target.shapes) and exists_on(spec, target)


def _variant(profile: Profile, name: str) -> KernelSpec:
    head, _, tail = name.partition("__")
    complex_phases, tail = (tail == "complex" or tail.startswith("complex_")), tail.removeprefix("complex").lstrip("_")
    base = profile.find(head + ("__complex" if complex_phases else ""))
    launch = re.search(r"(?:^|_)b(\d+)m(\d+)$", tail)
    words = tail[: launch.start()] if launch else tail
    shape = tuple(sorted(s for s in SHAPES if re.search(rf"(?:^|_){s}(?:_|$)", words)))
    spec = base.as_variant(shape, *(map(int, launch.groups()) if launch else (0, 0)))
    if spec.name != name or not any(
        set(shape) <= set(t.shapes) and (launch is None) == (t.threads is None) for t in TARGETS.values()
    ):
        raise SpecError(
            f"kernel '{name}' is no variant of {base.name}; after `__` come shapes ({', '.join(SHAPES)}) in "
            f"alphabetical order and, if they are of GPUs, launch numbers, as in {base.name}__box_b128m3"
        )
    return spec


def export_kernel(spec: KernelSpec, target: Target, lattice: str = "", file: str = "") -> str:
    """The text of a file of that name; `lattice` (X,Y,Z,T) is what it runs on unless told otherwise.

    Raises:
        SpecError: the lattice is not four even numbers.
    """
    if lattice and not re.fullmatch(r"([1-9]\d*[02468]|[2468])(,([1-9]\d*[02468]|[2468])){3}", lattice):
        raise SpecError(f"--lattice {lattice}: use four even extents X,Y,Z,T, such as 16,16,16,32")
    command = f"python -m generator export {spec.name}"
    helpers = _helpers(spec)
    headers = [*target.export_headers, *HEADERS]
    head = render(
        "export/head.j2",
        command,
        name=spec.name,
        formula=spec.operator.formula,
        facts=_facts(spec),
        compiler=target.export,
        file=file or f"{spec.name}.{target.suffix}",
        body=spec.operator.cpp_body(spec),
        headers=headers,
    )
    text = Sections(head, "" if target.threads else target.name)
    text.header(target.include("kernel"))
    for name in ("geometry", "memory_order"):
        text.header(f"runtime/lattice/{name}.hpp")
    left_out = {*OF_OTHERS, *([] if spec.tile else ["epilogue"]), *([] if spec.has_term else ["term", "twist"])}
    for path in re.findall(r'^#include "(.*)"', (ROOT / "runtime/kernels/kernel.hpp").read_text(), flags=re.M):
        if PurePosixPath(path).stem not in left_out:
            text.header(path)
    # The rows include everything; what this kernel does not need counts as seen.
    text.seen |= {"runtime/kernels/kernel.hpp", *([] if spec.tile else map(target.include, target.headers))}
    text.rendered = {f"generated/{path}": part for path, part in _parts(spec, command).items()}
    rows = render_group([spec, *helpers.values()], target, command)
    text.source("the kernel, and those that bring its fields to the device and back", rows)
    text.add("harness: fields, reference, comparison, timing", harness(spec, target, helpers, command, lattice))
    return text.close()


def _helpers(spec: KernelSpec) -> dict[str, KernelSpec]:
    """Kernels that convert the fields of `spec` from and to double, by their operators."""
    links = spec.format.links.name
    found = [kernel(name, spec.precision, spins=spec.colour_vectors) for name in ("import", "export")]
    if spec.links:
        found += [kernel(name, links, links=spec.links) for name in ("encode_links", "decode_links")]
    if spec.operator.stored_terms(spec):
        found += [kernel(name, links) for name in ("encode_term", "decode_term")]
    return {s.operator.name: s for s in found}


def _parts(spec: KernelSpec, command: str) -> dict[PurePosixPath, str]:
    """Rendered files that the rows need; others that they include are left out."""
    files = render_files([spec], command)
    wanted = [f"links/{s}.hpp" for s in ("r18", spec.links) if spec.links]
    if spec.has_term and spec.basis:
        wanted.append(f"bases/{spec.basis.short}.hpp")
    return {PurePosixPath(p): files[PurePosixPath(p)] for p in (*wanted, str(body_path(spec)))}


def _facts(spec: KernelSpec) -> list[str]:
    """Comment lines that say what the record is."""
    cost = spec.operator.cost(spec)
    rows = {"precision": f"{spec.precision}: {spec.format.bits} bits a real, computed in {spec.format.element}"}
    if spec.links:
        rows["links"] = f"{spec.storage.reals} reals: {spec.storage.formula}"
    if spec.basis:
        rows["basis"] = f"{spec.basis.name}{'; the Hermitian conjugate' if spec.dagger else ''}"
    if spec.tile:
        rows["epilogue"] = f"out = {spec.ends.formula}, d = D psi"
        rows["tile"] = f"{spec.tile} right-hand side(s) a thread; {spec.coefficient} hop coefficients"
    if spec.shape:
        rows["shape"] = "; ".join(f"{s}: {SHAPES[s].why}" for s in spec.shape)
    rows["cost"] = f"{cost.reported} flop and {cost.bytes:g} bytes a site and right-hand side"
    return [
        textwrap.fill(value, 120, initial_indent=f"//   {key:<10}", subsequent_indent=f"//   {'':<10}")
        for key, value in rows.items()
    ]


@dataclass
class Sections:
    """A file put together of headers: each once, where it is first included, in as few namespaces as possible.

    Attributes:
        text: what is there so far.
        target: value of QUARKSMITH_TARGET, empty where a header defines it.
        rendered: headers under generated/ by path; others are left out.
        seen: headers that need not be added.
        space: namespace that is open.
    """

    text: str
    target: str
    rendered: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    space: str = ""

    def header(self, path: str) -> None:
        """Adds a header of the project, and before it what it includes."""
        if path in self.seen:
            return
        self.seen.add(path)
        if path.startswith("runtime/"):
            self.source(path, (ROOT / path).read_text())
        elif path in self.rendered:
            self.source(path, self.rendered[path])

    def source(self, title: str, text: str) -> None:
        """Adds text with its comments, without what belongs to a file of its own; headers where it includes them."""
        text = re.sub(r"^// Generated by .*\n// Do not edit.*\n(//\n)?", "", text).replace("/// \\file\n", "")
        text = re.sub(r"^#pragma once\n|^\}  // namespace [\w:]+\n", "", text, flags=re.M)
        titled = ""
        for n, piece in enumerate(re.split(r'^#include "(.*)"\n', text, flags=re.M)):
            before = len(self.text)
            if n % 2 == 1:
                self.header(piece)
                if titled and len(self.text) != before:
                    titled = f"{title}, continued"
                    self._title(titled)
            elif piece.strip():
                if not titled:
                    titled = title
                    self._title(title)
                self._piece(piece)

    def _piece(self, text: str) -> None:
        before, *parts = re.split(r"^namespace ([\w:]+) \{\n", text, flags=re.M)
        if parts and parts[0] != self.space:
            self._leave()
        self.text += f"\n{before.strip()}\n"
        for space, inside in zip(parts[::2], parts[1::2], strict=True):
            self._enter(space)
            self.text += f"\n{inside.strip()}\n"

    def add(self, title: str, code: str) -> None:
        """Adds code to the namespace that is open."""
        self._title(title)
        self.text += f"\n{code.strip()}\n"

    def close(self) -> str:
        """The whole file."""
        run = f"{self.space}::run(argc, argv)"
        text = f"{self.text}\n}}  // namespace {self.space}\n\nint main(int argc, char** argv) {{ return {run}; }}\n"
        return re.sub(r"\n{3,}", "\n\n", text)

    def _title(self, title: str) -> None:
        self.text += f"\n// {f' {title} ':=^117}\n"

    def _leave(self) -> None:
        if self.space:
            self.text += f"\n}}  // namespace {self.space}\n"
        self.space = ""

    def _enter(self, space: str) -> None:
        if space == self.space:
            return
        self._leave()
        if "::" in space and self.target:
            self.text += f"\n#define QUARKSMITH_TARGET {self.target}\n"
        self.text += f"\nnamespace {space} {{\n"
        self.space = space
