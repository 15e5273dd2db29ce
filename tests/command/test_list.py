"""What options choose from: `quarksmith list`, help and documents say the same; a new thing of a kind is one file."""

import json
import os
import re
import subprocess

import pytest
from conftest import ROOT, Command
from relink import compiled, linked

LISTS = {
    "formats": "files.md",
    "solvers": "howto-solver.md",
    "link-smearings": "smearing.md",
    "options": "options.md",
} | dict.fromkeys(("sources", "sinks", "correlators"), "measure-sources.md")


@pytest.mark.parametrize(("name", "page"), LISTS.items())
def test_documents_have_the_lists(quarksmith, name, page):
    table = quarksmith("list", name).stdout
    assert len(table.splitlines()) > 4
    assert f"\n{table}\n" in (ROOT / "docs" / page).read_text(), f"docs/{page}: put in what `list {name}` prints"


def forms(quarksmith, name):
    return {
        form.replace("\\|", "|") for form in re.findall(r"^\| `([^`]+)`", quarksmith("list", name).stdout, re.M)[1:]
    }


def test_help_and_errors_name_all(quarksmith):
    text = " ".join(quarksmith("propagator", "--help").stdout.split())
    quark = ("propagator", "--gauge", "unit:4,4,4,4", "--mass", "1", "--correlators", "c.json")
    for option, name in (("--source", "sources"), ("--sink", "sinks")):
        said = quarksmith.refuses(*quark, option, "none:1")
        assert len(forms(quarksmith, name)) > 3
        for form in forms(quarksmith, name):
            assert form in text and form in said


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--source", "point", "'' is not x,y,z,t; use point:x,y,z,t"),
        ("--source", "point:0,0,0", "'0,0,0' is not x,y,z,t"),
        ("--source", "point:0,0,0,0,", "'0,0,0,0,' is not x,y,z,t"),
        ("--source", "point:0,0,0,-1", "t '-1' is no whole number of 0 or more"),
        ("--source", "point:0,0,0,4", "coordinate t = 4 lies outside the 4x4x4x4 lattice"),
        ("--source", "wall:4", "coordinate t = 4 lies outside"),
        ("--source", "noise:3,z3", "'z3' is not z2 or z4; use noise:SEED[,z2|z4]"),
        ("--source", "noise:18446744073709551616", "is no whole number"),
        ("--source", "gaussian:0,0,0,0", "'' is not w,N; use gaussian:x,y,z,t:w,N"),
        ("--source", "gaussian:0,0,0,9:2,3", "coordinate t = 9 lies outside"),
        ("--source", "jacobi:0,0,0,0:0.2,3,0", "norm = 0 is not a number of size between 1e-100 and 1e+100"),
        ("--sink", "jacobi:0.2x,3", "kappa '0.2x' is no number; use jacobi:kappa,N[,norm]"),
        ("--sink", "wuppertal:0.2,0", "N = 0 is not a whole number between 1 and 1000000"),
    ],
)
def test_what_a_text_may_hold(quarksmith, option, value, message):
    said = quarksmith.refuses(
        "propagator", "--gauge", "unit:4,4,4,4", "--mass", "1", "--correlators", "c.json", option, value
    )
    assert message in said


NEW = {
    ("solvers/measure/sources", "SourceKind", "solvers/measure/source.hpp"): """
#include "solvers/measure/source.hpp"

namespace quarksmith::sources {
namespace {
Complex64 of_heavy(const ChoiceValues& v, const Lattice&, long long, const Coordinates& x) {
  return x == Coordinates{int(v[0].whole), 0, 0, int(v[1].whole)} ? v[2].real : 0;
}
}  // namespace
extern constinit const SourceKind heavy = {
    .name = "heavy",
    .contents = "a number at one site",
    .parameters = {{coordinate(0), coordinate(3), {.name = "w", .lower = -9, .upper = 9, .fallback = 1}}},
    .at = of_heavy};
}  // namespace quarksmith::sources
""",
    ("solvers/measure/smearings", "SmearingKind", "solvers/measure/smearing.hpp"): """
#include "solvers/krylov/blas.hpp"
#include "solvers/measure/smearing.hpp"

namespace quarksmith::smearings {
namespace {
void smear_heavy(const ChoiceValues& v, const LinkField&, SpinorField& psi, const std::function<void()>&) {
  Blas(psi).scale(v[0].real, psi, psi);
}
}  // namespace
extern constinit const SmearingKind heavy = {
    .name = "times",
    .formula = "w psi",
    .parameters = {{{.name = "w", .lower = -9, .upper = 9}}},
    .smear = smear_heavy};
}  // namespace quarksmith::smearings
""",
    ("solvers/measure/correlators", "CorrelatorKind", "solvers/measure/quark_columns.hpp"): """
#include "solvers/measure/quark_columns.hpp"

namespace quarksmith::correlators {
namespace {
std::vector<Correlator> contract_heavy(const QuarkColumns& quark) {
  if (quark.staggered()) return {};
  std::vector<double> sums(quark.lattice().global_extent(3));
  HostSpinor column(quark.lattice());
  for (int n = 0; n < 12; ++n) {
    quark.quarks[0].get_column(n, column);
    const std::vector<double> norms = slice_norms(column);
    for (std::size_t t = 0; t < sums.size(); ++t) sums[t] += norms[t];
  }
  return {{"correlators", "squares", sums}};
}
}  // namespace
extern constinit const CorrelatorKind heavy = {
    .keys = "squares", .quarks = "Dirac", .formula = "sum_x |S|^2", .contract = contract_heavy};
}  // namespace quarksmith::correlators
""",
}
"""(folder, kind, header) of a list: one more file of the folder."""


def like(name, *changes):
    """A file of the tree with other names."""
    text = (ROOT / name).read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


NEW["solvers/gauge/link_smearings", "LinkSmearingKind", "solvers/gauge/link_smearing.hpp"] = like(
    "solvers/gauge/link_smearings/stout.cpp",
    ("LinkSmearingKind stout", "LinkSmearingKind heavy"),
    ('"stout"', '"heavy"'),
)
NEW["solvers/krylov/methods", "MethodKind", "solvers/krylov/method.hpp"] = like(
    "solvers/krylov/methods/mr.cpp",
    ("MinimalResidual", "Heavy"), ("MethodKind mr", "MethodKind heavy"), ('{"mr"}', '{"heavy"}'),
    ("--omega", "--relaxation"), ("of mr", "of heavy"),
)  # fmt: skip
NEW["runtime/io/formats", "GaugeFormat", "runtime/io/formats.hpp"] = like(
    "runtime/io/formats/milc.cpp",
    ("GaugeFormat milc", "GaugeFormat heavy"), ("milc_magic = 20103", "milc_magic = 20104"), ("\\x87", "\\x88"),
    ('"MILC v5"', '"Heavy"'), ('"MILC"', '"Heavy"'), ('"milc"', '"heavy"'), ('".milc"', '".heavy"'),
)  # fmt: skip


class Own(Command):
    """The command with one more of each."""

    def __call__(self, *arguments, status=0, **options):
        words = [self.folder / "quarksmith", *map(str, arguments)]
        run = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=300, **options)
        assert run.returncode == status, f"{words}: status {run.returncode}\n{run.stdout}\n{run.stderr}"
        return run

    def pion(self, *arguments):
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        gauge = ("--gauge", "weak:0.3:4,4,4,4:3", "--device", "cpu", "--mass", "0.5", "--tol", "1e-12")
        self("propagator", *gauge, *arguments, "--correlators", "c.json", "--overwrite", env=environment)
        return json.loads((self.folder / "c.json").read_text())["correlators"]


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """Built of the files above and of the lists that CMake makes of the folders with them."""
    folder = tmp_path_factory.mktemp("listed")
    objects = []
    for (place, kind, header), text in NEW.items():
        name = place.rsplit("/", 1)[1]
        (folder / name).mkdir()
        new = folder / name / "heavy.cpp"
        new.write_text(text)
        files = [new, *(ROOT / place).glob("*.cpp")]
        script = folder / f"{name}.cmake"
        script.write_text(
            f"include({ROOT}/cmake/listed.cmake)\n"
            f"quarksmith_list({kind} {header} {folder}/{name}.cpp {' '.join(map(str, files))})\n"
        )
        subprocess.run(["cmake", "-P", script], check=True)
        both = folder / f"{name}_both.cpp"  # what the two include takes longer than they
        both.write_text(f'#include "{new}"\n#include "{folder}/{name}.cpp"\n')
        objects.append(compiled(both, f"/listed/{name}.cpp"))
    linked(folder, objects)
    return Own(folder)


def test_a_new_source_sink_or_correlator_is_one_file(own):
    point = own.pion()
    assert point["squares"] == pytest.approx(point["pion"], rel=1e-12)
    for option in (("--source", "heavy:0,0,3"), ("--source", "times:0,0,0,0:3"), ("--sink", "times:3")):
        assert own.pion(*option)["pion"] == pytest.approx([9 * c for c in point["pion"]], rel=1e-9), option
    assert own.pion("--source", "heavy:0,0")["pion"] == pytest.approx(point["pion"], rel=1e-12)


def test_a_new_smearing_of_links_is_one_file(own):
    stout, heavy = (own.pion("--smear-links", f"{name}:0.1,2,space")["pion"] for name in ("stout", "heavy"))
    assert heavy == stout
    assert "| `heavy:rho,N[,all\\|space]` | rho -1 to 1; N 1 to 1000000; default all |" in own(
        "list", "link-smearings"
    ).stdout  # fmt: skip


def test_a_new_solver_is_one_file(own):
    point = own.pion("--solver", "mr", "--omega", "1.1")["pion"]
    assert own.pion("--solver", "heavy", "--relaxation", "1.1")["pion"] == point
    own.pion("--solver", "gcr", "--preconditioner", "heavy:3")
    base = ("propagator", "--gauge", "unit:4,4,4,4", "--mass", "1", "--correlators", "x.json")
    said = own.refuses(*base, "--solver", "mr", "--relaxation", "1")
    assert "--relaxation belongs to --solver heavy, not to mr" in said
    said = own.refuses(*base, "--solver", "heavy", "--relaxation", "2")
    assert "solver heavy with relaxation = 2; use a number between 0 and 2" in said
    assert "heavy, mr" in own.refuses(*base, "--solver", "none")
    assert "| `heavy`, `--relaxation W` |" in own("list", "solvers").stdout
    assert "over-relaxation W of heavy, 0 to 2" in " ".join(own("propagator", "--help").stdout.split())


def test_a_new_format_is_one_file(own):
    own("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--out", "u")
    own("convert", "u_00001.ildg", "u.heavy")
    own("convert", "u.heavy", "u.milc")
    assert "Heavy" in own("info", "u.heavy").stdout and "MILC" in own("info", "u.milc").stdout
    assert (own.folder / "u.heavy").read_bytes()[4:] == (own.folder / "u.milc").read_bytes()[4:]
    assert "| Heavy | `heavy` | .heavy | 32 | SU(3) |" in own("list", "formats").stdout
    assert "{heavy,ildg,milc," in own("convert", "--help").stdout
    assert "use 32 bits, or" in own.refuses("convert", "u_00001.ildg", "v.heavy", "--bits", "64")


def test_help_lists_and_errors_have_it(own):
    assert "| `heavy:x,t[,w]` | w -9 to 9 (default 1) | a number at one site |" in own("list", "sources").stdout
    assert "| `times:w` | w -9 to 9 | w psi |" in own("list", "sinks").stdout
    assert "| squares | Dirac | sum_x |S|^2 |".replace("|S|", "\\|S\\|") in own("list", "correlators").stdout
    text = " ".join(own("propagator", "--help").stdout.split())
    assert "heavy:x,t[,w]" in text and "times:x,y,z,t:w" in text
    base = ("propagator", "--gauge", "unit:4,4,4,4", "--mass", "1", "--correlators", "x.json")
    assert "w = 10 is not a number between -9 and 9; use heavy:x,t[,w]" in own.refuses(
        *base, "--source", "heavy:0,0,10"
    )
    assert "coordinate t = 4 lies outside" in own.refuses(*base, "--source", "heavy:0,4")
    assert "heavy:x,t[,w]" in own.refuses(*base, "--source", "none") and "times:w" in own.refuses(
        *base, "--sink", "none"
    )
