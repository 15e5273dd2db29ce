"""What options choose from: `quarksmith list`, help and documents say the same; a new thing of a kind is one file."""

import re
import subprocess

import pytest
from conftest import ROOT
from relink import compiled, own_command

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


def pion(own, *arguments):
    gauge = ("--gauge", "weak:0.3:4,4,4,4:3", "--device", "cpu", "--mass", "0.5", "--tol", "1e-12")
    own("propagator", *gauge, *arguments, "--correlators", "c.json", "--overwrite")
    return own.json("c.json")["correlators"]


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
    return own_command(folder, objects)


def test_a_new_source_sink_or_correlator_is_one_file(own):
    point = pion(own)
    assert point["squares"] == pytest.approx(point["pion"], rel=1e-12)
    for option in (("--source", "heavy:0,0,3"), ("--source", "times:0,0,0,0:3"), ("--sink", "times:3")):
        assert pion(own, *option)["pion"] == pytest.approx([9 * c for c in point["pion"]], rel=1e-9), option
    assert pion(own, "--source", "heavy:0,0")["pion"] == pytest.approx(point["pion"], rel=1e-12)


def test_a_new_smearing_of_links_is_one_file(own):
    stout, heavy = (pion(own, "--smear-links", f"{name}:0.1,2,space")["pion"] for name in ("stout", "heavy"))
    assert heavy == stout


def test_a_new_solver_is_one_file(own):
    point = pion(own, "--solver", "mr", "--omega", "1.1")["pion"]
    assert pion(own, "--solver", "heavy", "--relaxation", "1.1")["pion"] == point
    pion(own, "--solver", "gcr", "--preconditioner", "heavy:3")
    base = ("propagator", "--gauge", "unit:4,4,4,4", "--mass", "1", "--correlators", "x.json", "--solver")
    for words, named in (
        (("mr", "--relaxation", "1"), "--relaxation"),
        (("heavy", "--relaxation", "2"), "between 0 and 2"),
        (("none",), "heavy, mr"),
    ):
        assert named in own.refuses(*base, *words)


def test_a_new_format_is_one_file(own):
    own("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--out", "u")
    own("convert", "u_00001.ildg", "u.heavy")
    own("convert", "u.heavy", "u.milc")
    assert "Heavy" in own("info", "u.heavy").stdout and "MILC" in own("info", "u.milc").stdout
    assert (own.folder / "u.heavy").read_bytes()[4:] == (own.folder / "u.milc").read_bytes()[4:]
    own.refuses("convert", "u_00001.ildg", "v.heavy", "--bits", "64")


LISTED = {
    "link-smearings": "| `heavy:rho,N[,all\\|space]` | rho -1 to 1; N 1 to 1000000; default all |",
    "solvers": "| `heavy`, `--relaxation W` |",
    "formats": "| Heavy | `heavy` | .heavy | 32 | SU(3) |",
    "sources": "| `heavy:x,t[,w]` | w -9 to 9 (default 1) | a number at one site |",
    "sinks": "| `times:w` | w -9 to 9 | w psi |",
    "correlators": r"| squares | Dirac | sum_x \|S\|^2 |",
}


def test_help_lists_and_errors_have_it(own):
    for name, row in LISTED.items():
        assert row in own("list", name).stdout
    helps = [" ".join(own(command, "--help").stdout.split()) for command in ("propagator", "convert")]
    for text in ("heavy:x,t[,w]", "times:x,y,z,t:w", "over-relaxation W of heavy, 0 to 2", "{heavy,ildg,milc,"):
        assert any(text in found for found in helps), text
    base = ("propagator", "--gauge", "unit:4,4,4,4", "--mass", "1", "--correlators", "x.json")
    for option, value, named in (
        ("--source", "heavy:0,0,10", "w = 10"),
        ("--source", "heavy:0,4", "t = 4"),
        ("--source", "none", "heavy:x,t[,w]"),
        ("--sink", "none", "times:w"),
    ):
        assert named in own.refuses(*base, option, value)
