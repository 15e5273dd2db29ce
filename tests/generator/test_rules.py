"""Rules of the tree: who may include whom, sizes, names, and what has no place in it."""

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from jinja2 import nodes
from tree import ROOT, tracked

from generator.emit.render import environment
from generator.profile import load_profile
from generator.targets import HOST, TARGETS


def included(path: Path) -> set[str]:
    """The project's own headers that a file includes."""
    return set(re.findall(r'^#include "([^"]+)"', path.read_text(), flags=re.M))


ALLOWED = {
    "runtime": {"runtime"},
    "generated": {"runtime", "generated"},
    "solvers": {"runtime", "solvers"},
    "runs": {"runtime", "solvers", "runs"},
    "interface": {"runtime", "solvers", "runs", "interface"},
    "apps": {"runtime", "solvers", "runs", "apps"},
    "python": {"runtime", "solvers", "runs", "python"},
    "tests": {"runtime", "solvers", "generated", "runs", "apps", "tests"},
}


@pytest.mark.parametrize("folder", ALLOWED)
def test_includes_follow_the_rule(folder):
    for path in tracked(f"{folder}/*.hpp", f"{folder}/*.cpp", f"{folder}/*.cu"):
        if path.parts[len(ROOT.parts) + 1 : len(ROOT.parts) + 2] == ("consumer",):
            continue
        assert {name.split("/")[0] for name in included(path)} <= ALLOWED[folder], path.relative_to(ROOT)


def test_kernel_headers_include_no_host_library():
    """Headers that reach a kernel must compile for every target, with NVRTC too."""
    seen: set[str] = set()
    queue = ["runtime/kernels/kernel.hpp", *(f"runtime/targets/{name}/kernel.hpp" for name in TARGETS)]
    while queue:
        name = queue.pop()
        if name in seen:
            continue
        seen.add(name)
        text = (ROOT / name).read_text()
        assert not re.findall(r"^#include <", text, flags=re.M), name
        queue += re.findall(r'^#include "([^"]+)"', text, flags=re.M)


def test_headers_for_programs_include_no_library_of_text():
    """What is installed: fmt and nlohmann-json are for sources, and for headers of runs that stay here."""
    needs = re.compile(r"^#include <(fmt|nlohmann|CLI|toml)", flags=re.M)
    runs = [p for p in tracked("runs/*.hpp") if not re.search(r'"runs/print.hpp"|<fmt/', p.read_text())]
    queue = [*runs, *(p for p in tracked("runtime/*.hpp", "solvers/*.hpp") if "targets" not in p.parts)]
    installed = set(queue)
    assert ROOT / "runs/propagator.hpp" in runs and len(queue) > 100
    for path in queue:
        assert not needs.search(path.read_text()), path
        for name in included(path):
            assert ROOT / name in installed, f"{path.relative_to(ROOT)} includes {name}, which is not installed"


def test_the_c_header_stands_alone():
    """Programs of others compile it: it includes one header of C and its own parts, and names no type of C++."""
    parts = ["quarksmith_orders.h", "quarksmith_dynamics.h"]
    for name, includes in {
        "quarksmith.h": ["<stddef.h>", *(f'"{p}"' for p in parts)],
        **dict.fromkeys(parts, []),
    }.items():
        text = (ROOT / "interface" / name).read_text()
        assert re.findall(r"^#include (.*)$", text, flags=re.M) == includes
        assert "::" not in text


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = path.relative_to(ROOT).parts[: -node.level] if node.level else ()
            names.add(".".join([*base, *filter(None, [node.module])]))
    return names


LAYERS = {
    "errors": ("errors", "folders", "alias", "released", "lazy"),
    "language": ("language", "actions"),
    "algebra": ("algebra", "cost"),
    "lower": ("lower",),
    "records": ("targets", "spec", "shapes", "precision", "epilogue", "site_term", "launch"),
    "cpp": ("cpp",),
    "operators": ("operators",),
    "profiles": ("served", "include", "plan", "profile"),
    "emit": ("emit", "schema", "explain"),
    "tune": ("tune",),
    "command": ("__main__", "commands", "usage"),
}
"""Layers of generator/ and the modules of each: a layer imports those before it and its own."""


def layer_of(module: str) -> int:
    """The number of the layer of `generator.language.graph`."""
    top = module.split(".")[1]
    return next(n for n, modules in enumerate(LAYERS.values()) if top in modules)


def test_imports_of_the_generator_go_one_way():
    """Those for types alone and those inside of functions too."""
    seen = set()
    for path in tracked("generator/*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts == ("generator", "__init__"):
            continue
        own = layer_of(".".join(parts))
        seen.add(parts[1])
        for name in imports(path):
            if name.startswith("generator."):
                assert layer_of(name) <= own, f"{path.relative_to(ROOT)} imports {name} of a later layer"
    assert seen == {module for modules in LAYERS.values() for module in modules}


def test_imports_of_the_generator_are_relative():
    """The same modules are `generator` in the tree and `quarksmith.generator` in the Python package."""
    for path in tracked("generator/*.py"):
        assert not re.search(r"^\s*(from|import) generator\b", path.read_text(), flags=re.M), path


def test_no_module_of_the_generator_imports_itself_by_way_of_others():
    """Those for types alone too; a package stands for its modules where their names are not given."""
    modules = {".".join(p.relative_to(ROOT).with_suffix("").parts): p for p in tracked("generator/*.py")}
    graph = {name: imports(path) & modules.keys() for name, path in modules.items()}
    assert list(TopologicalSorter(graph).static_order())


def test_statements_know_neither_lowering_nor_printing():
    for path in tracked("generator/language/*.py", "generator/actions/*.py"):
        found = {name.split(".")[1] for name in imports(path) if name.startswith("generator.")}
        assert found <= {"errors", "alias", "language", "actions"}, path.name


ARITHMETIC = tuple(getattr(nodes, name) for name in "Add Sub Mul Div FloorDiv Mod Pow Neg Pos".split())
LAYOUT = {"broken", "commented", "join", "length", "lower", "terms", "wrapped"}
"""Filters that lay out text; others may compute."""


def calculations(template: str) -> list[str]:
    """Operators and filters of a template that compute, wherever they stand: in expressions, statements, indices."""
    tree = environment().parse(template)
    found = [type(n).__name__ for n in tree.find_all(ARITHMETIC)]
    return found + [n.name for n in tree.find_all(nodes.Filter) if n.name not in LAYOUT]


def decided_by(template: str) -> set[str]:
    """Names on which it depends what a template renders, or how often."""
    tree = environment().parse(template)
    tests = [n.test for n in tree.find_all((nodes.If, nodes.CondExpr))]
    tests += [n.iter for n in tree.find_all(nodes.For)] + [n.node for n in tree.find_all(nodes.Assign)]
    return {name.name for test in tests for name in [test, *test.find_all(nodes.Name)] if isinstance(name, nodes.Name)}


def test_templates_hold_no_target_and_no_arithmetic():
    templates = tracked("templates/*.j2")
    assert len(templates) > 25
    for path in templates:
        assert "target" not in decided_by(path.read_text()), path.name
        assert not calculations(path.read_text()), f"{path.name}: {calculations(path.read_text())}"


def test_arithmetic_in_templates_is_seen():
    texts = ["{{ a + b }}", "{{- n-1 -}}", "//% if a % 2\n//% endif", "{%- set x = -y -%}", "{{ 'a' }}{{ (a) / 2 }}"]
    texts += ["{{ x[:-1] }}", "{{ f(a) + [1] }}", "{{ a // 2 ** b }}", "//% for x in a\n{{ b\n+ c }}\n//% endfor"]
    for text in (*texts, "{{ x[n+1] }}", "{{ loop.length - 1 }}", "{{ a | sum }}"):
        assert calculations(text), text
    for text in ("{{- 'a - b' -}}", "a - b {{ c }} - d", "{# a - b #}", "{{ parts | length }}", "{{ a ~ '-' ~ b }}"):
        assert not calculations(text), text


def test_a_target_in_a_template_is_seen():
    for text in (
        "//% if target == 'cpu'\n//% endif",
        "{{ 'a' if target else 'b' }}",
        "{% for x in target.y %}{% endfor %}",
        "{% set t = target %}",
    ):
        assert "target" in decided_by(text), text
    assert "target" not in decided_by("runtime/{{ target }}.hpp")


@pytest.mark.parametrize("pattern", ["*.py", "*.hpp", "*.cpp", "*.h", "*.c", "*.j2"])
def test_files_are_one_idea_long(pattern):
    limit = 80 if pattern == "*.j2" else 400
    for path in tracked(pattern):
        if "generated" in path.parts:
            continue
        lines = path.read_text().count("\n")
        assert lines <= limit, f"{path.relative_to(ROOT)} has {lines} lines"


def test_functions_are_short():
    for path in tracked("generator/*.py", "tools/*.py", "python/*.py"):
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
    for path in tracked("*.hpp", "*.cpp", "*.h", "*.c", "*.cu"):
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


def test_hops_are_stated_once_more_for_the_tests():
    """What kernels of the project's operators are compared with does not come from the generator."""
    text = (ROOT / "tests/reference/operators.cpp").read_text()
    names, beginnings = set(re.findall(r'name == "(\w+)"', text)), tuple(re.findall(r'starts_with\("(\w+)"\)', text))
    emitted = {s.operator for p in ("default", "full") for s in load_profile(p).kernels}
    hops = {o.name for o in emitted if o.family == "hopping"}
    assert len(hops) > 5
    missing = sorted(name for name in hops - names if not name.startswith(beginnings))
    assert not missing, f"state D of {', '.join(missing)} in tests/reference/operators.cpp"


def test_records_say_what_they_know():
    """A record carries its operator: nothing is looked up again, and no stage tells kinds apart."""
    kinds = r"isinstance\([^)]*(Operator|Expression|Update|SiteKernel)"
    stages = [p for p in tracked("generator/*.py") if p.parent.name in ("generator", "emit", "tune")]
    assert len(stages) > 20
    for path in stages:
        again = re.search(rf"{kinds}|getattr\(|find_operator", path.read_text())
        assert not again or path.name == "profile.py", f"{path}: {again[0]}"  # the entrance: names of rows


def test_macros_stay_in_their_places():
    places = {"kernel.hpp", "names.hpp", "error.hpp", "random.hpp", "data.hpp", "support.hpp"}
    for path in tracked("*.hpp", "*.cpp", "*.cu"):
        if re.search(r"^#define \w+\(", path.read_text(), flags=re.M):
            assert path.name in places, path
    for folder in ("generated", "solvers"):
        for path in tracked(f"{folder}/*"):
            if path.suffix in {".hpp", ".cpp", ".cu"}:
                assert not re.search(r"^#\s*if", path.read_text(), flags=re.M), path


OF_MAKERS = {
    "cuda": re.compile(r"cuda|nvcc|nvml|ptxas|nvidia", flags=re.I),
    "hip": re.compile(r"\bhip\b|hip[A-Z_]|hipcc|amdgcn|rocm|\bgfx9|\bAMD\b"),
}
"""Words that belong to a target alone."""


def test_a_target_is_named_in_its_row_and_its_folders_alone():
    """Another one is a row in generator/targets.py and a folder in runtime/targets, and nothing else."""
    assert OF_MAKERS.keys() == TARGETS.keys() - {HOST.name}
    # What names a device to test, what is rendered for it, and names that others have chosen.
    elsewhere = ("tests/", "generated/", "interface/quda/")
    sources = tracked("*.py", "*.hpp", "*.cpp", "*.h", "*.c", "*.cu", "*.hip", "*.j2", "*.cmake", "*CMakeLists.txt")
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in sources}
    for name, words in OF_MAKERS.items():
        own = ("generator/targets.py", f"runtime/targets/{name}/", f"templates/targets/{name}/")
        assert not [n for n, text in texts.items() if not n.startswith(own + elsewhere) and words.search(text)]


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
