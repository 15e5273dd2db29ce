"""The plotting tools take every file that the commands write."""

import json
from pathlib import Path

import pytest
from drawing import draw


def check(tool: str, data: dict, folder: Path, *more: dict) -> None:
    """Draws data, of several files if there are more, and looks at what was written."""
    files = [folder / f"data{n}.json" for n in range(1 + len(more))]
    for file, one in zip(files, (data, *more), strict=True):
        file.write_text(json.dumps(one))
    assert draw(tool, *files, "--out", folder / "plot.png") == (0, "")
    assert (folder / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_a_roofline_has_a_place_for_every_family(tmp_path):
    kernel = {"precision": "double", "gflops": 2.0, "gbytes_per_second": 3.0}
    names = {
        "hopping": ["wilson_double_r12_nr_n1", "improved_staggered_double_r13_n1", "laplace3_double_r12_n1"],
        **{f: [f"{f}_double"] for f in ("slices", "update", "gauge", "links", "term", "expression", "a_later_family")},
    }
    kernels = [kernel | {"name": n, "family": family} for family, of in names.items() for n in of]
    kernels.append(kernel | {"name": "import_single", "family": "convert", "gflops": 0.0})
    head = {"device": "X", "lattice": [4, 4, 4, 4], "copy_bytes_per_second": 1e10, "rotating_buffers": False}
    check("plot_roofline.py", head | {"kernels": kernels}, tmp_path)


@pytest.mark.parametrize("count", [1, 5])
def test_a_run_of_hmc_is_drawn(tmp_path, count):
    work = {"iterations": 10, "seconds": 1.0, "solve_seconds": 0.5}
    one = {"dH": 0.1, "accepted": True, "plaquette": 0.6, "seconds": 2.0, "work": {"g": work, "q": work}}
    one["forces"] = {"g": [{"norm2": 3.0}, {"norm2": 4.0}], "q": [{"norm2": 0.1}]}
    other = one | {"accepted": False, "dH": 3.0, "plaquette": 0.61}
    data = {"lattice": [4, 4, 4, 4], "first": 2, "trajectories": [one, *[other, one, other, one][: count - 1]]}
    check("plot_hmc.py", data, tmp_path)
    check("plot_hmc.py", data | {"first": 7}, tmp_path, data)


MADE = {"provenance": {"action": "wilson", "mass": 0.1, "gauge": "unit:4,4,4,4"}, "solves": []}


@pytest.mark.parametrize(
    "correlators",
    [
        {
            "pion": [8.0, 3.0, 2.0, 3.0],
            "rho": [9.0, 2.0, 1.0, 2.0],
            "proton": [[9.0, 0.1], [3, 0], [-1, 0], [1, 0]],
        },
        {"pion": [8.0, 3.0, 2.0, 3.0]},
        {"pion_0.05": [8.0, 3.0, 2.0, 3.0], "pion_0.05_0.1": [[8.0, 0.1], [3.0, 0.0], [2.0, 0.0], [3.0, -0.1]]},
    ],
    ids=["wilson", "staggered", "staggered, two masses"],
)
def test_correlators_of_every_action_are_drawn(correlators, tmp_path):
    check(
        "plot_correlators.py", {"lattice": [4, 4, 4, 4], "plaquette": 0.6, "correlators": correlators, **MADE}, tmp_path
    )
