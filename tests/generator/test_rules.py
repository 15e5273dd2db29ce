"""Rules of the tree: who may include whom, sizes, names, and what has no place in it."""

import ast
import re
import subprocess
from collections.abc import Iterator
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


def template_code(text: str) -> list[tuple[str, str]]:
    """Expressions and statements of a template, without strings, lists and indices."""
    code = re.findall(r"\{\{-?(.*?)-?\}\}|\{%-?(.*?)-?%\}|^ *//%([^\n]*)", text, flags=re.M | re.S)
    bare = [[re.sub(r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|length - 1", " ", part) for part in parts] for parts in code]
    return [(expression, block + line) for expression, block, line in bare]


ARITHMETIC = re.compile(r"[\w)\]]\s*[-+*/%]\s*[\w(\[]")


def test_templates_hold_no_target_and_no_arithmetic():
    for path in tracked("templates/*.j2"):
        for expression, statement in template_code(path.read_text()):
            assert "target" not in statement, f"{path.name}: {statement}"
            assert not ARITHMETIC.search(expression + statement), f"{path.name}: {expression}{statement}"


def test_arithmetic_in_templates_is_seen():
    for text in (
        "{{ a + b }}",
        "{{- n-1 -}}",
        "//% if a % 2",
        "{% set x = 3*y %}",
        "{{ 'a' }}{{ (a) / 2 }}",
        "{{ x[0] - y }}",
    ):
        assert any(ARITHMETIC.search(a + b) for a, b in template_code(text)), text
    for text in (
        "{{- 'a - b' -}}",
        "{{ parts[-1].title }}",
        "//% for p in parts[:-1]",
        "a - b {{ c }} - d",
        "{{ -a }}",
    ):
        assert not any(ARITHMETIC.search(a + b) for a, b in template_code(text)), text


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


def cpp_functions(text: str) -> Iterator[tuple[str, int]]:
    """Heads of the functions of a C++ file, and their lines from the head to the closing brace."""
    blanks = re.compile(
        r'R"(\w*)\((?:.|\n)*?\)\1"|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^ *#[^\n]*',
        flags=re.M,
    )
    text = blanks.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    text = re.sub(r"(?<=\w)\{[^{};]*\}", lambda m: re.sub(r"[^\n]", " ", m.group()), text)  # of initialisers
    function = re.compile(r"\)\s*(const|noexcept|override|final|requires\b[^{]*|->[^;{]*|\s)*(:[^:].*)?$", flags=re.S)
    scope = re.compile(r"(^|[\s>])(namespace|class|struct|union|extern)\b")
    open_heads: list[tuple[str, int]] = []
    begin = 0
    for brace in re.finditer(r"[{};]", text):
        if brace.group() == "{":
            head = text[begin : brace.start()]
            open_heads.append((head.strip(), begin + len(head) - len(head.lstrip())))
        elif brace.group() == "}" and open_heads:
            head, start = open_heads.pop()
            if function.search(head) and all(scope.search(outer) for outer, _ in open_heads):
                yield " ".join(head.split())[:80], text.count("\n", start, brace.start()) + 1
        begin = brace.end()


def test_cpp_functions_are_short():
    found = 0
    for path in tracked("*.hpp", "*.cpp"):
        if "generated" in path.parts:
            continue
        for head, lines in cpp_functions(path.read_text()):
            found += 1
            assert lines <= 60, f"{path.relative_to(ROOT)}: {head} has {lines} lines"
    assert found > 1000


def test_the_length_of_a_cpp_function_is_seen():
    body = '  f("}");  // }\n' * 60
    heads = {
        "void f() {": 62,
        "A::A(int n) noexcept\n    : n_(n), m_{n} {": 63,
        "template <class T>\nauto g(T&& x) const -> decltype(x) {": 63,
    }
    for head, lines in heads.items():
        inside = f"namespace {{\nclass C {{\n  int a = 0;\n{head}\n{body}}}\n}};\n}}  // namespace\n"
        assert [n for _, n in cpp_functions(inside)] == [lines], head


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
