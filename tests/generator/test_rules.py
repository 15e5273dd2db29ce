"""Rules of the tree: who may include whom, sizes, names, and what has no place in it."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def tracked(*patterns: str) -> list[Path]:
    listing = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=False)
    return [ROOT / line for line in listing.stdout.splitlines() if (ROOT / line).is_file()]


def included(path: Path) -> set[str]:
    """First folders of the project's own headers that a file includes."""
    return {m.split("/")[0] for m in re.findall(r'^#include "([^"]+)"', path.read_text(), flags=re.M)}


ALLOWED = {
    "runtime": {"runtime"},
    "generated": {"runtime", "generated"},
    "solvers": {"runtime", "solvers"},
    "interface": {"runtime", "solvers", "interface"},
    "apps": {"runtime", "solvers", "generated", "apps"},
    "tests": {"runtime", "solvers", "generated", "tests"},
}


@pytest.mark.parametrize("folder", ALLOWED)
def test_includes_follow_the_rule(folder):
    for path in tracked(f"{folder}/*.hpp", f"{folder}/*.cpp", f"{folder}/*.cu"):
        if path.parts[len(ROOT.parts) + 1 : len(ROOT.parts) + 2] == ("consumer",):
            continue
        assert included(path) <= ALLOWED[folder], path.relative_to(ROOT)


def test_kernel_headers_include_no_host_library():
    """Headers that reach a kernel must compile for every target, with NVRTC too."""
    seen: set[str] = set()
    queue = ["runtime/kernels/kernel.hpp", "runtime/kernels/targets/cpu.hpp", "runtime/kernels/targets/cuda.hpp"]
    while queue:
        name = queue.pop()
        if name in seen:
            continue
        seen.add(name)
        text = (ROOT / name).read_text()
        assert not re.findall(r"^#include <", text, flags=re.M), name
        queue += re.findall(r'^#include "([^"]+)"', text, flags=re.M)


def test_the_c_header_stands_alone():
    """Programs of others compile it: it includes one header of C and names no type of C++."""
    text = (ROOT / "interface/quarksmith.h").read_text()
    assert re.findall(r"^#include (.*)$", text, flags=re.M) == ["<stddef.h>"]
    assert "::" not in text


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def test_algebra_and_cost_know_no_text():
    text_modules = {"generator.emit.cpp", "generator.emit.render", "generator.emit.write", "jinja2"}
    for path in [*tracked("generator/algebra/*.py"), ROOT / "generator/cost.py"]:
        assert not imports(path) & text_modules, path.name


def test_templates_hold_no_target_and_no_arithmetic():
    for path in tracked("templates/*.j2"):
        text = path.read_text()
        control = " ".join(
            re.findall(r"^//%(.*)$|\{%(.*?)%\}", text, flags=re.M) and re.findall(r"//%.*|\{%.*?%\}", text)
        )
        assert "target" not in control, path.name
        assert not re.search(r"\{\{[^}]*[*/][^}]*\}\}", text), path.name


@pytest.mark.parametrize("pattern", ["*.py", "*.hpp", "*.cpp", "*.h", "*.c", "*.j2"])
def test_files_are_one_idea_long(pattern):
    limit = 80 if pattern == "*.j2" else 400
    for path in tracked(pattern):
        if "generated" in path.parts:
            continue
        lines = path.read_text().count("\n")
        assert lines <= limit, f"{path.relative_to(ROOT)} has {lines} lines"


def test_functions_are_short():
    for path in tracked("generator/*.py", "tools/*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                assert length <= 50, f"{path.name}: {node.name} has {length} lines"


def test_macros_stay_in_their_places():
    places = {"target_cpu.hpp", "target_cuda.hpp", "error.hpp", "random.hpp", "data.hpp"}
    for path in tracked("*.hpp", "*.cpp", "*.cu"):
        if re.search(r"^#define \w+\(", path.read_text(), flags=re.M):
            assert path.name in places, path
    for folder in ("generated", "solvers"):
        for path in tracked(f"{folder}/*"):
            if path.suffix in {".hpp", ".cpp", ".cu"}:
                assert not re.search(r"^#\s*if", path.read_text(), flags=re.M), path


def test_no_editor_left_overs_and_no_machine_paths():
    for path in tracked("*"):
        assert not re.search(r"(~|\.orig|\.rej|\.bak|\.swp)$", path.name), path
        if path.suffix in {".py", ".hpp", ".cpp", ".h", ".c", ".md", ".toml", ".txt", ".j2", ".cu"} or path.name in {
            "Makefile"
        }:
            home = re.search(r"(?<![\w.])/(home|root|Users)/\w", path.read_text(errors="ignore"))
            assert home is None or path == Path(__file__), f"{path}: {home}"


def test_marks_of_unfinished_work_are_absent():
    mark = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX", "NotImpl" + "emented"]) + r")\b")
    for path in tracked("*.py", "*.hpp", "*.cpp", "*.h", "*.c", "*.j2", "*.cu"):
        assert not mark.search(path.read_text()), path
