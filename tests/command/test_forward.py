"""Data stays on the device: what goes up to it is counted."""

import json
import re
import subprocess

import pytest
from relink import compiled, linked

UPLOAD = "_ZN10quarksmith6uploadERKNS_10HostSpinorERNS_11SpinorFieldERKNS_9BasisInfoEi"
COUNTER = f"""
#include <cstdio>
#include "runtime/fields/field.hpp"
using namespace quarksmith;
namespace {{
struct Counter {{
  int calls = 0;
  ~Counter() {{ std::fprintf(stderr, "uploads: %d\\n", calls); }}
}} counter;
}}  // namespace
extern "C" {{
void __real_{UPLOAD}(const HostSpinor&, SpinorField&, const BasisInfo&, int);
void __wrap_{UPLOAD}(const HostSpinor& from, SpinorField& to, const BasisInfo& basis, int rhs) {{
  ++counter.calls;
  __real_{UPLOAD}(from, to, basis, rhs);
}}
}}
"""


@pytest.fixture(scope="module")
def uploads(tmp_path_factory):
    """Runs the command with a counter round `upload`; returns how many fields went up; sources are made there."""
    folder = tmp_path_factory.mktemp("forward")
    (folder / "counter.cpp").write_text(COUNTER)
    program = linked(folder, [compiled(folder / "counter.cpp", "/generated/actions.cpp"), f"-Wl,--wrap={UPLOAD}"])

    def run(*arguments):
        done = subprocess.run(
            [program, *arguments], cwd=folder, capture_output=True, text=True, timeout=300, check=True
        )
        return int(re.search(r"^uploads: (\d+)$", done.stderr, re.M)[1])

    run.folder = folder
    return run


def test_a_smeared_sink_works_where_columns_were_solved_for(uploads):
    quark = ("propagator", "--gauge", "weak:0.3:4,4,4,4:3", "--mass", "0.5", "--device", "cpu")
    smeared = ("--source", "jacobi:0,0,0,0:0.1,2", "--sink", "gaussian:1.5,3")
    assert uploads(*quark, "--correlators", "point.json") == 0
    assert uploads(*quark, *smeared, "--batch", "4", "--correlators", "a.json") == 0
    assert uploads(*quark, *smeared, "--out", "p.h5", "--correlators", "b.json") == 0
    # Those of a file have to go up.
    gauge = ("--gauge", "weak:0.3:4,4,4,4:3")
    assert uploads("correlators", "p.h5", "--sink", "gaussian:1.5,3", *gauge, "--correlators", "c.json") == 12
    assert uploads("correlators", "p.h5", "--correlators", "d.json") == 12
    a, b, c, point, d = (
        json.loads((uploads.folder / f"{name}.json").read_text())["correlators"]["pion"]
        for name in ("a", "b", "c", "point", "d")
    )
    assert b == pytest.approx(a, rel=1e-9) and c == pytest.approx(b, rel=1e-13)
    assert d != pytest.approx(b, rel=1e-3) and point != pytest.approx(d, rel=1e-3)
