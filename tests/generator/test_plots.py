"""The plotting tools take every file that the commands write."""

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from drawing import draw
from matplotlib.figure import Figure


@contextlib.contextmanager
def drawn() -> Iterator[Callable[[], Figure]]:
    """What gives the figure that a tool saves meanwhile."""
    kept: list[Figure] = []
    write = Figure.savefig

    def keep(figure: Figure, *arguments: object, **options: object) -> None:
        kept.append(figure)
        write(figure, *arguments, **options)

    with mock.patch.object(Figure, "savefig", keep):
        yield lambda: kept[0]


def heading(figure: Figure) -> str:
    """The title of all panels; get_suptitle needs Matplotlib 3.8."""
    return figure._suptitle.get_text()


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


def test_a_roofline_has_the_axes_of_the_field_all_roofs_and_marks_the_cache(tmp_path):
    """Small fields run from the cache: above the roof of memory, and hollow."""
    kernel = {"family": "hopping", "precision": "double", "gflops": 20.0, "gbytes_per_second": 15.0}
    small = kernel | {"name": "wilson_double_r12_nr_n1", "microseconds": 10.0}  # 150 kB
    large = kernel | {"name": "staggered_double_r12_n1", "microseconds": 1e4, "gflops": 2.0, "gbytes_per_second": 9.0}
    head = {"device": "X", "lattice": [4, 4, 4, 4], "copy_bytes_per_second": 1e10, "rotating_buffers": False}
    roofs = {"cache_bytes": 1 << 20, "cache_bytes_per_second": 3e10, "peak_gflops": {"double": 50, "single": 100}}
    (tmp_path / "b.json").write_text(json.dumps(head | roofs | {"kernels": [small, large]}))
    with drawn() as figure:
        assert draw("plot_roofline.py", tmp_path / "b.json", "--out", tmp_path / "b.png") == (0, "")
    above, below = figure().axes
    assert "flop/byte" in below.get_xlabel() and "GFLOP/s" in above.get_ylabel()
    labels = above.get_legend_handles_labels()[1]
    assert labels == ["memory, 10 GB/s", "cache of 1 MiB, 30 GB/s", "double, 50 GFLOP/s", "single, 100 GFLOP/s"]
    points = {line.get_marker(): line.get_markerfacecolor() for line in above.lines if line.get_marker() in "oD"}
    assert points["o"] == "none" and points["D"] != "none"


def test_the_picture_of_the_readme_has_formula_kernel_and_roofline(tmp_path):
    evidence = Path(__file__).parents[2] / "generated" / "tuned" / "nvidia_h200.json"
    with drawn() as figure:
        assert draw("plot_overview.py", evidence, "--copy", 4253, "--out", tmp_path / "o.png") == (0, "")
    formula, kernel, roofline = figure().axes
    texts = [" ".join(t.get_text() for t in axes.texts) for axes in (formula, kernel)]
    assert "shift(adj(u[mu]) * psi, -mu)" in texts[0] and "8 hops in all" in texts[1]
    assert roofline.get_legend_handles_labels()[1][1:] == ["double", "single", "half"]
    assert [len(line.get_xdata()) for line in roofline.lines[1:]] == [3, 3, 3]


def history(*plaquettes: float, first: int = 0, **changes: object) -> dict:
    """JSON of `quarksmith hmc`."""
    work = {"iterations": 10, "seconds": 1.0, "solve_seconds": 0.5}
    one = {"dH": 0.1, "accepted": True, "plaquette": 0.6, "seconds": 2.0, "work": {"gauge": work, "quark": work}}
    one["forces"] = {"gauge": [{"norm2": 3.0}, {"norm2": 4.0}], "quark": [{"norm2": 0.1}]}
    keys = {"monomials": "gauge, quark", "monomial 'gauge': kind": "gauge", "monomial 'gauge': action": "wilson"}
    keys |= {"monomial 'gauge': beta": "5.6", "monomial 'quark': kind": "two-flavour"}
    keys |= {"monomial 'quark': action": "clover", "monomial 'quark': csw": "1.2"}
    made = [one | {"plaquette": p, "accepted": n % 2 == 0} for n, p in enumerate(plaquettes)]
    return {"lattice": [4, 4, 4, 4], "seed": 3, "first": first, "run": keys, "trajectories": made, **changes}


@pytest.mark.parametrize("count", [1, 5, 40])
def test_a_run_of_hmc_is_drawn(tmp_path, count):
    check("plot_hmc.py", history(*[0.6, 0.61, 0.59, 0.62][:count] * max(1, count // 4)), tmp_path)


def test_a_plot_of_hmc_names_lattice_action_thermalised_part_and_autocorrelation_time(tmp_path):
    series = np.cumsum(np.random.default_rng(1).normal(size=60)) * 1e-3 + 0.6
    (tmp_path / "h.json").write_text(json.dumps(history(*series)))
    with drawn() as figure:
        assert draw("plot_hmc.py", tmp_path / "h.json", "--from", 20, "--out", tmp_path / "h.png") == (0, "")
    title = " ".join(heading(figure()).split())
    for words in ("4x4x4x4", "gauge: wilson, beta 5.6", "quark: two-flavour clover, csw 1.2", "thermalised from 20 on"):
        assert words in title
    assert re.search(r"autocorrelation time [0-9.]+ ± [0-9.]+ trajectories", title)
    assert "history ends" in draw("plot_hmc.py", tmp_path / "h.json", "--from", 60, "--out", tmp_path / "h.png")[1]


def test_a_trajectory_that_two_files_hold_counts_once(tmp_path, capsys):
    (tmp_path / "a.json").write_text(json.dumps(history(0.5, 0.51, 0.52)))
    (tmp_path / "b.json").write_text(json.dumps(history(0.52, 0.53, first=2)))
    with drawn() as figure:
        draw("plot_hmc.py", tmp_path / "b.json", tmp_path / "a.json", "--out", tmp_path / "h.png")
    assert "b.json: trajectories 2 to 2 repeat others, counted once" in capsys.readouterr().out
    assert list(figure().axes[0].lines[0].get_ydata()) == [0.5, 0.51, 0.52, 0.53]


@pytest.mark.parametrize(
    "other, why",
    [
        (history(0.6, 0.53, first=2), "trajectory 2 ends at plaquette"),
        (history(0.52, first=2, seed=4), "seed is 3 and 4"),
        (history(0.52, first=2, lattice=[4, 4, 4, 8]), "lattice is"),
        (history(0.52, first=2, run=history()["run"] | {"monomial 'gauge': beta": "5.7"}), "beta is 5.6 and 5.7"),
    ],
)
def test_trajectories_of_two_runs_are_not_joined(tmp_path, other, why):
    (tmp_path / "a.json").write_text(json.dumps(history(0.5, 0.51, 0.52)))
    (tmp_path / "b.json").write_text(json.dumps(other))
    status, said = draw("plot_hmc.py", tmp_path / "a.json", tmp_path / "b.json", "--out", tmp_path / "h.png")
    assert status == 1 and "not of one run" in said and why in said and not (tmp_path / "h.png").exists()


MADE = {
    "provenance": {"action": "wilson", "mass": 0.1, "gauge": "unit:4,4,4,4", "gauge_digest": "a", "source": "point:0"},
    "solves": [],
}


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


def pion(gauge: str, **provenance: object) -> dict:
    """Correlators of one configuration."""
    made = MADE["provenance"] | {"gauge": gauge, "gauge_digest": gauge} | provenance
    values = [8.0, 3.0, 2.0, 3.0] if gauge == "a" else [8.0, 5.0, 4.0, 5.0]
    return {"lattice": [4, 4, 4, 4], "correlators": {"pion": values}, "solves": [], "provenance": made}


def test_a_configuration_that_two_files_hold_counts_once(tmp_path, capsys):
    """The solver may differ; the mean is that of the configurations."""
    files = [pion("a"), pion("b"), pion("a", solver="cg", precision="double-half"), pion("a")]
    for n, one in enumerate(files):
        (tmp_path / f"{n}.json").write_text(json.dumps(one))
    with drawn() as figure:
        draw("plot_correlators.py", *sorted(tmp_path.glob("*.json")), "--out", tmp_path / "c.png")
    said = capsys.readouterr().out
    assert said.count("of the same configuration as") == 2 and "0.json, not counted again" in said
    assert "2 configurations" in heading(figure()) and "2 repeated files left out" in heading(figure())
    assert figure().axes[0].lines[0].get_ydata() == pytest.approx([1.0, 0.5, 3 / 8])


@pytest.mark.parametrize(
    "key, value",
    [("source", "gaussian:0,0,0,0:4.0,30"), ("sink", "gaussian:4.0,30"), ("boundary", [1]), ("tolerance", 1e-3)],
)
def test_what_differs_in_provenance_is_not_averaged(tmp_path, key, value):
    for n, one in enumerate((pion("a"), pion("b", **{key: value}))):
        (tmp_path / f"{n}.json").write_text(json.dumps(one))
    status, said = draw("plot_correlators.py", tmp_path / "0.json", tmp_path / "1.json", "--out", tmp_path / "c.png")
    assert status == 1 and f"not of one ensemble: {key} is" in said and not (tmp_path / "c.png").exists()
