"""Plots show what the commands wrote: points, curves and errors of the figure against the numbers of the files."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from drawing import draw

ROOFS = {"device": "X, 2 threads", "lattice": [4, 4, 4, 4], "copy_bytes_per_second": 1e10, "rotating_buffers": False}


@pytest.fixture
def drawn(tmp_path):
    """Draws data of one file each; the picture is a file, and nothing but it and the data is left."""

    def of(plot, *data, options=()):
        files = [tmp_path / f"{n}.json" for n in range(len(data))]
        for file, one in zip(files, data, strict=True):
            file.write_text(one if isinstance(one, str) else json.dumps(one))
        (tmp_path / "plot.png").unlink(missing_ok=True)
        found = draw(plot, *files, *options, "--out", tmp_path / "plot.png")
        pictures = set(tmp_path.iterdir()) - set(files)
        assert pictures == ({tmp_path / "plot.png"} if found.status == 0 else set()), found.said
        assert (found.said == "") == (found.status == 0) and found.said.count("\n") <= 1
        return found

    return of


def points(axes, markers="osD^vPXp<*h"):
    """(x, y) of the lines that are one point each, in the order in which they were drawn."""
    return [(*line.get_xdata(), *line.get_ydata()) for line in axes.lines if line.get_marker() in markers]


def labels(axes):
    return axes.get_legend_handles_labels()[1]


def curve(axes, label):
    """Values of the line with a label."""
    (line,) = [line for line in axes.lines if line.get_label() == label]
    return list(line.get_xdata()), list(line.get_ydata())


def test_a_roofline_has_a_place_for_every_family(drawn):
    kernel = {"precision": "double", "gbytes_per_second": 3.0}
    names = {
        "hopping": ["wilson_double_r12_nr_n1", "improved_staggered_double_r13_n1", "laplace3_double_r12_n1"],
        **{f: [f"{f}_double"] for f in ("slices", "update", "gauge", "links", "term", "expression", "a_later_family")},
    }
    kernels = [kernel | {"name": n, "family": family} for family, of in names.items() for n in of]
    kernels = [one | {"gflops": 2.0 + n} for n, one in enumerate(kernels)]
    kernels.append(kernel | {"name": "import_single", "family": "convert", "gflops": 0.0})
    figure = drawn("roofline", ROOFS | {"kernels": kernels}).figure
    above, below = figure.axes
    rates = [k["gflops"] for k in kernels if k["gflops"]]
    assert points(above) == [(pytest.approx(g / 3), g) for g in rates]
    assert points(below) == [(pytest.approx(g / 3), pytest.approx(30)) for g in rates]
    texts = [t.get_text() for t in figure.legends[0].get_texts()]
    kinds = ["Wilson", "Laplace", "staggered", "vector update", "site term", "gauge", "links", "fifth dimension"]
    assert [t for t in texts if t][: len(kinds) + 3] == ["double", *kinds, "expression", "other"]


def test_a_roofline_has_the_axes_of_the_field_all_roofs_and_marks_the_cache(drawn):
    """Small fields run from the cache: above the roof of memory, and hollow."""
    kernel = {"family": "hopping", "precision": "double", "gflops": 20.0, "gbytes_per_second": 15.0}
    small = kernel | {"name": "wilson_double_r12_nr_n1", "microseconds": 10.0}  # 150 kB
    large = kernel | {"name": "staggered_double_r12_n1", "microseconds": 1e4, "gflops": 2.0, "gbytes_per_second": 9.0}
    roofs = {"cache_bytes": 1 << 20, "cache_bytes_per_second": 3e10, "peak_gflops": {"double": 50, "single": 100}}
    above, below = drawn("roofline", ROOFS | roofs | {"kernels": [small, large]}).figure.axes
    assert "flop/byte" in below.get_xlabel() and "GFLOP/s" in above.get_ylabel()
    memory, cache = "memory, 10 GB/s", "cache of 1 MiB, 30 GB/s"
    assert labels(above) == [memory, cache, "double, 50 GFLOP/s", "single, 100 GFLOP/s"]
    for label, bandwidth in ((memory, 10), (cache, 30)):
        x, y = np.array(curve(above, label))
        assert y == pytest.approx(np.minimum(bandwidth * x, 100))
    faces = {line.get_marker(): line.get_markerfacecolor() for line in above.lines if line.get_marker() in "oD"}
    assert faces["o"] == "none" and faces["D"] != "none"


def test_the_picture_of_the_readme_has_formula_kernel_and_roofline(tmp_path):
    evidence = Path(__file__).parents[2] / "generated" / "tuned" / "nvidia_h200.json"
    found = draw("overview", evidence, "--copy", 4253, "--out", tmp_path / "o.png")
    formula, kernel, roofline = found.figure.axes
    texts = [" ".join(t.get_text() for t in axes.texts) for axes in (formula, kernel)]
    assert "shift(adj(u[mu]) * psi, -mu)" in texts[0] and "8 hops in all" in texts[1]
    assert labels(roofline)[1:] == ["double", "single", "half"]
    assert [len(line.get_xdata()) for line in roofline.lines[1:]] == [3, 3, 3]
    assert all(np.all(line.get_ydata() < 4253 * line.get_xdata() * 1.2) for line in roofline.lines[1:])
    assert draw("overview", evidence, "--out", tmp_path / "p.png").status == 1


def trajectories(*plaquettes, first=0, **changes):
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
def test_a_run_of_hmc_is_drawn(drawn, count):
    series = [0.6 + 1e-3 * (n % 4) for n in range(count)]
    plaquette, dh, forces, shares = drawn("hmc", trajectories(*series)).figure.axes
    assert [list(d) for d in plaquette.lines[0].get_data()] == [list(range(count)), series]
    assert curve(dh, "accepted") == (list(range(0, count, 2)), [0.1] * ((count + 1) // 2))
    if count > 1:
        assert curve(dh, "rejected") == (list(range(1, count, 2)), [0.1] * (count // 2))
    assert curve(forces, "gauge")[1] == pytest.approx([np.sqrt(3.5 / 1024)] * count)
    assert curve(forces, "quark")[1] == pytest.approx([np.sqrt(0.1 / 1024)] * count)
    bars = [(bar.get_x(), bar.get_width()) for bar in shares.patches]
    assert bars == [(0, 0.25)] * 2 + [(0.25, 0.25)] * 2  # solves, then the rest of each monomial
    mean = np.mean(series[count // 2 :])
    assert f"plaquette {mean:.5f}" in plaquette.get_title()


def test_a_trajectory_that_two_files_hold_counts_once(drawn):
    found = drawn("hmc", trajectories(0.52, 0.53, first=2), trajectories(0.5, 0.51, 0.52))
    assert "0.json: trajectories 2 to 2 repeat others" in found.printed
    assert list(found.figure.axes[0].lines[0].get_ydata()) == [0.5, 0.51, 0.52, 0.53]


@pytest.mark.parametrize(
    "other, why",
    [
        (trajectories(0.6, 0.53, first=2), "trajectory 2"),
        (trajectories(0.52, first=2, seed=4), "seed is 3 and 4"),
        (trajectories(0.52, first=2, lattice=[4, 4, 4, 8]), "lattice is"),
        (trajectories(0.52, first=2, run=trajectories()["run"] | {"monomial 'gauge': beta": "5.7"}), "5.6 and 5.7"),
    ],
)
def test_trajectories_of_two_runs_are_not_joined(drawn, other, why):
    found = drawn("hmc", trajectories(0.5, 0.51, 0.52), other)
    assert found.status == 1 and why in found.said


def test_a_heatbath_has_its_sweeps_mean_and_error(drawn):
    """The first sweep of a resumed run is not number one; half of them count."""
    values = [0.1] * 4 + [0.5, 0.7] * 8
    data = {"lattice": [4, 4, 4, 8], "sweeps": 120, "plaquettes": values, "beta": 5.7, "start": "cold", "seed": 3}
    axes = drawn("history", data, options=("--from", 105)).figure.axes[0]
    assert [list(d) for d in axes.lines[0].get_data()] == [list(range(101, 121)), values]
    assert [list(d) for d in axes.lines[1].get_data()] == [list(range(105, 121)), [pytest.approx(0.6)] * 16]
    assert "sweeps 105 to 120: 0.60000" in labels(axes)[0] and "autocorrelation" in labels(axes)[1]
    assert "4x4x4x8" in axes.get_title() and "beta 5.7" in axes.get_title()
    assert drawn("history", data | {"plaquettes": []}).status == 1


def test_residuals_are_those_of_the_first_column_of_each_solver(drawn):
    rows = [("cg", "double", 1, 0, 0.5, 1e-3), ("cg", "double", 1, 0, 1.0, 1e-9), ("cg", "double", 12, 0, 2, 1e-8)]
    rows.append(("cg", "double", 12, 1, 3, 1e-7))
    text = "solver,precision,batch,column,seconds,residual\n" + "".join(",".join(map(str, r)) + "\n" for r in rows)
    axes = drawn("residuals", text).figure.axes[0]
    assert labels(axes) == ["cg double", "cg double x12"] and axes.get_yscale() == "log"
    assert curve(axes, "cg double") == ([0.5, 1.0], [1e-3, 1e-9])
    assert curve(axes, "cg double x12") == ([2.0], [1e-8])
    assert drawn("residuals", "solver,column\n").status == 1


def test_deviations_are_fractions_above(drawn):
    """What a format represents exactly has none."""
    kernels = [{"name": "wilson_r8_half", "largest": 1.0, "distribution": [[1e-3, 0.0], [1e-2, 0.75], [1e-1, 1.0]]}]
    kernels.append({"name": "exact", "largest": 0.0, "distribution": []})
    axes = drawn("accuracy", {"lattice": [4, 4, 4, 8], "kernels": kernels}).figure.axes[0]
    assert labels(axes) == ["wilson_r8_half"] and axes.lines[0].get_linestyle() == "--"
    assert curve(axes, "wilson_r8_half") == ([1e-3, 1e-2, 1e-1], [1.0, 0.25, 3e-6])


def test_scaling_takes_the_fastest_grid_and_iterations_a_hopping_term(drawn):
    def row(ranks, microseconds, each):
        iterations = [
            {"method": m, "microseconds": t, "hopping_terms": 2} for m, t in zip(("cg", "schwarz"), each, strict=True)
        ]
        timed = {"microseconds": microseconds, "iterations": iterations}
        return {"lattice": [8, 8, 8, 8], "precision": "half", "ranks": ranks, **timed}

    rows = [row(1, 100.0, (220.0, 300.0)), row(2, 60.0, (140.0, 200.0)), row(2, 80.0, (1.0, 1.0))]
    left, right = drawn("scaling", {"device": "X, 1.2 GHz", "rows": rows}).figure.axes
    assert curve(left, "8x8x8x8 half") == ([1, 2], [100.0, 60.0])
    assert list(left.lines[1].get_ydata()) == [100.0, 50.0]  # ideal
    assert curve(right, "8x8x8x8 half, cg") == ([1, 2], [110.0, 70.0])
    assert curve(right, "8x8x8x8 half, schwarz") == ([1, 2], [150.0, 100.0])


MADE = {"action": "wilson", "mass": 0.1, "gauge": "unit:4,4,4,4", "gauge_digest": "a", "source": "point:0"}


def correlated(correlators, **provenance):
    """JSON of `quarksmith propagator --correlators`."""
    return {"lattice": [4, 4, 4, 4], "correlators": correlators, "solves": [], "provenance": MADE | provenance}


def pion(gauge, **provenance):
    """Correlators of one configuration."""
    values = [8.0, 3.0, 2.0, 3.0] if gauge == "a" else [8.0, 5.0, 4.0, 5.0]
    return correlated({"pion": values}, gauge=gauge, gauge_digest=gauge, **provenance)


def test_mesons_are_folded_and_baryons_are_not(drawn):
    """A folded meson is a cosh of mass 0.7, open where it is negative; of complex numbers the real part counts."""
    t = np.arange(8)
    meson = np.cosh(0.7 * (t - 4))
    baryon = [[float(c), 0.1] for c in np.exp(-1.1 * t[:5])] + [[-1.0, 0.0]] * 3
    found = drawn("correlators", correlated({"pion": list(meson), "proton": baryon, "scalar": list(-meson)}))
    left, right = found.figure.axes
    data = {c.get_label(): c.lines[0] for c in left.containers if not c.get_label().startswith("_")}
    assert list(data) == labels(left) == ["pion", "proton", "scalar"] and left.get_yscale() == "log"
    assert data["pion"].get_ydata() == pytest.approx(meson[:5] / meson[0])
    assert data["proton"].get_ydata() == pytest.approx(np.exp(-1.1 * t[:5]))
    faces = [c.lines[0].get_markerfacecolor() for c in left.containers if len(c.lines[0].get_xdata())]
    assert faces[-1] == "none" and "none" not in faces[:-1]
    masses = [c.lines[0].get_ydata() for c in right.containers]
    assert masses[0] == pytest.approx([0.7] * 4, abs=1e-6) and masses[2] == pytest.approx([0.7] * 4, abs=1e-6)
    assert masses[1] == pytest.approx([1.1] * 4)
    assert "kappa 0.121951" in found.heading and "1 configuration" in found.heading


def test_correlators_of_several_masses_are_drawn(drawn):
    values = {"pion_0.05": [8.0, 3.0, 2.0, 3.0], "pion_0.05_0.1": [[8.0, 0.1], [3.0, 0.0], [1.0, 0.0], [3.0, -0.1]]}
    found = drawn("correlators", correlated(values, action="staggered") | {"masses": [0.05, 0.1]})
    assert "staggered, mass 0.05, 0.1" in found.heading
    ends = [c.lines[0].get_ydata()[-1] for c in found.figure.axes[0].containers if len(c.lines[0].get_xdata())]
    assert ends == [0.25, 0.125]


def test_a_configuration_that_two_files_hold_counts_once(drawn):
    """The solver may differ; mean and jackknife error are those of the configurations."""
    found = drawn("correlators", pion("a"), pion("b"), pion("a", solver="cg", precision="double-half"), pion("a"))
    assert re.findall(r"(\d)\.json: .*/0\.json", found.printed) == ["2", "3"]
    assert "2 configurations" in found.heading and "2 repeated files" in found.heading
    points = found.figure.axes[0].containers[0]
    assert points.lines[0].get_ydata() == pytest.approx([1.0, 0.5, 3 / 8])
    (bars,) = points.lines[2]
    assert [s[1][1] - s[0][1] for s in bars.get_segments()] == pytest.approx([0, 2 / 8, 2 / 8])  # of 3 and 5, 2 and 4


@pytest.mark.parametrize(
    "key, value",
    [("source", "gaussian:0,0,0,0:4.0,30"), ("sink", "gaussian:4.0,30"), ("boundary", [1]), ("tolerance", 1e-3)],
)
def test_what_differs_in_provenance_is_not_averaged(drawn, key, value):
    found = drawn("correlators", pion("a"), pion("b", **{key: value}))
    assert found.status == 1 and f"{key} is" in found.said


@pytest.mark.parametrize("plot", ["accuracy", "correlators", "history", "hmc", "roofline", "scaling", "dispersion"])
@pytest.mark.parametrize("text", ["", "{}"])
def test_other_files_are_one_error_that_names_file_and_need(plot, text, drawn):
    found = drawn(plot, text)
    assert found.status == 1 and found.said.startswith(f"plots {plot}: error: ") and "0.json: " in found.said
    assert "; needed: " in found.said
