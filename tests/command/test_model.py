"""`quarksmith model`: cases computed by hand, what must grow with what, errors; bytes against those that ranks send."""

import json

import pytest
from test_ranks import mpirun, several_ranks  # noqa: F401  (fixtures)

LAUNCH = 2.0
"""The default of --launch."""
SITES = 16**4 // 2
WILSON = 1152
"""Bytes of a site of the hopping term: double, 12 reals."""
SPINOR = 192
FACE = 16**3 // 2 * 96
"""Bytes that cross one face of a 16^4 part: projected spinors of one parity."""


def times(folder, name="m.json", precision="double", lattice=(16, 16, 16, 16), us=100 + LAUNCH, rhs=1, **more):
    """A file of `scaling --json` with one time on one device."""
    rows = [{"precision": precision, "policy": "alone", "rhs": rhs, "microseconds": us}]
    data = {"device": "a GPU", "grid": [1, 1, 1, 1], "lattice": list(lattice), "links": "12", "rows": rows}
    (folder / name).write_text(json.dumps(data | more))
    return name


@pytest.fixture
def model(quarksmith):
    """Runs the model on 16^4 for each rank and returns the rows of its JSON."""
    times(quarksmith.folder)

    def run(*arguments, link="100,1", lattice=("16,16,16,16", "--local"), measured=("m.json",)):
        line = ("model", "--lattice", *lattice, "--link", link, *arguments, "--json", "out.json", "--overwrite")
        quarksmith(*line, "--measured", *measured)
        return quarksmith.json("out.json")["rows"]

    return run


def test_one_rank_takes_what_was_measured(model):
    (row,) = model("--grid", "1,1,1,1")
    assert row["microseconds"] == pytest.approx(102)
    assert row["gflops"] == pytest.approx(1320 * SITES / 102e-6 * 1e-9)
    assert (row["bytes_sent"], row["all_reduce_us"], row["efficiency"]) == (0, 0, pytest.approx(1))
    cg, bicgstab = row["iterations"]
    field = SPINOR / WILSON * 100
    # Four hopping terms, two of which read one more field; then nine and thirteen fields in three and four launches.
    assert cg["microseconds"] == pytest.approx(4 * 102 + 2 * field + 9 * field + 3 * LAUNCH)
    assert bicgstab["microseconds"] == pytest.approx(4 * 102 + 2 * field + 13 * field + 4 * LAUNCH)
    assert (cg["hopping_terms"], cg["exchanges"], cg["all_reduces"]) == (4, 0, 2)
    assert bicgstab["all_reduces"] == 2


@pytest.mark.parametrize(("bandwidth", "hidden"), [(100, True), (1, False)])
def test_a_transfer_shows_when_it_is_longer_than_the_interior(model, bandwidth, hidden):
    (row,) = model("--grid", "1,1,1,2", link=f"{bandwidth},1")
    transfer = 1 + 2 * FACE / bandwidth * 1e-3
    interior, boundary = 87.5, 1.25 * 12.5  # two of sixteen slices are at the boundary
    pack = 2 * FACE * 3 / (WILSON * SITES) * 100  # whole spinors read, half ones written
    assert row["bytes_sent"] == 2 * FACE
    assert row["parts"] == pytest.approx(
        {"stages_us": 6, "pack_us": pack, "interior_us": interior, "transfer_us": transfer, "boundary_us": boundary}
    )
    assert (transfer < interior) == hidden
    assert row["microseconds"] == pytest.approx(6 + pack + max(interior, transfer) + boundary)
    assert row["policy"] == "fused"
    cg = row["iterations"][0]
    one = model("--grid", "1,1,1,1")[0]["iterations"][0]["microseconds"]
    # All-reduces on a host take one latency.
    assert cg["microseconds"] == pytest.approx(one + 4 * (row["microseconds"] - 102) + 2 * 1)
    assert cg["bytes_sent"] == 4 * 2 * FACE


def test_in_x_every_row_has_sites_that_wait(model, quarksmith):
    (row,) = model("--grid", "2,1,1,1")
    pack = 2 * FACE * (2 * 4 + 1) / (WILSON * SITES) * 100  # packets of 16 bytes, pieces of 64 of memory
    assert row["policy"] == "fused"
    assert row["parts"] == pytest.approx(
        {"stages_us": 6, "pack_us": pack, "interior_us": 0, "transfer_us": 1 + 2 * FACE / 100e3, "boundary_us": 125}
    )
    assert row["microseconds"] == pytest.approx(sum(row["parts"].values()))
    times(quarksmith.folder, "h.json", "half", rhs=12)
    (row,) = model("--grid", "2,1,1,1", "--batch", "12", measured=("h.json",))
    assert row["policy"] == "peer"  # rows as a whole, then their ends
    assert (row["parts"]["interior_us"], row["parts"]["boundary_us"]) == pytest.approx((100, 50))


def test_norms_travel_with_half_precision(model, quarksmith):
    times(quarksmith.folder, "h.json", "half")
    (row,) = model("--grid", "1,1,1,2", measured=("h.json",))
    assert row["bytes_sent"] == 2 * (16**3 // 2) * (2 * 6 * 2 + 4)


def test_faces_of_few_sites_are_stored_in_whole_blocks(model):
    (row,) = model("--grid", "1,1,1,2", lattice=("4,4,4,4", "--local"))
    assert row["bytes_sent"] == 2 * 32 * 96
    (row,) = model("--grid", "1,1,1,2", lattice=("2,2,4,4", "--local"))
    assert row["bytes_sent"] == 2 * 32 * 96  # eight sites fill a block of 32


@pytest.mark.parametrize(
    ("grid", "each", "link_faces", "network_faces"),
    [("1,1,1,4", 2, 1, 1), ("2,1,1,2", 2, 2, 2), ("1,1,1,4", 1, 0, 2), ("1,1,2,4", 4, 3, 1), ("1,1,4,2", 4, 2, 2)],
)
def test_ranks_are_laid_on_hosts_in_their_order(model, grid, each, link_faces, network_faces):
    line = ("--grid", grid, "--ranks-per-host", each, "--network", "10,5")
    (row,) = model(*line, link="50,2")
    longest = max(link_faces * FACE / 50e3, network_faces * FACE / 10e3)
    assert row["bytes_to_other_hosts"] == network_faces * FACE
    assert row["parts"]["transfer_us"] == pytest.approx(2 * (link_faces > 0) + 5 * network_faces + longest)
    assert row["policy"] == ("mixed" if each > 1 else "overlap")
    assert row["all_reduce_us"] == pytest.approx((row["ranks"] - 1).bit_length() * 5 + 2 * LAUNCH)


def test_time_of_a_site_is_interpolated_in_the_logarithm_of_the_volume(model, quarksmith):
    times(quarksmith.folder, "big.json", lattice=(16, 16, 16, 64), us=LAUNCH + 4 * 130)
    extents = ["16,16,16,16", "16,16,16,32", "16,16,16,64", "16,16,32,64", "8,8,8,8"]
    rows = model("--grid", "1,1,1,1", lattice=extents, measured=("m.json", "big.json"))
    expected = [100, 2 * 115, 4 * 130, 8 * 130, 100 / 16]
    assert [r["microseconds"] for r in rows] == pytest.approx([LAUNCH + t for t in expected])


def test_files_of_bench_do_as_well(model, quarksmith):
    kernels = [
        {"name": name, "precision": "double", "rhs": 1, "microseconds": us}
        for name, us in (("wilson_double_r12_nr_n1", 102), ("wilson_double_r18_nr_n1", 150), ("norm2_double", 3))
    ]
    data = {"device": "a GPU", "lattice": [16, 16, 16, 16], "kernels": kernels}
    (quarksmith.folder / "b.json").write_text(json.dumps(data))
    assert model("--grid", "1,1,1,2", measured=("b.json",)) == model("--grid", "1,1,1,2")


def test_more_ranks_take_less_time_and_are_less_efficient(model):
    for lattice in ("16,16,16,64", "32,32,32,64"):
        line = ("--network", "20,5", "--ranks-per-host", 4, "--ranks", "1,2,4,8,16,32,64")
        rows = model(*line, lattice=(lattice,))
        assert [r["ranks"] for r in rows] == [1, 2, 4, 8, 16, 32, 64]
        within = [r for r in rows if r["ranks"] <= 4]
        for fewer, more in zip(within, within[1:], strict=False):
            assert more["microseconds"] < fewer["microseconds"]
        for fewer, more in zip(rows, rows[1:], strict=False):
            assert more["efficiency"] < fewer["efficiency"]
            assert more["all_reduce_us"] >= fewer["all_reduce_us"]


def test_better_links_never_cost_time(model):
    line = ("--grid", "1,1,2,4", "--ranks-per-host", 2)
    last = None
    for link, network in (("10,9", "1,20"), ("10,9", "10,20"), ("10,9", "10,2"), ("100,9", "10,2"), ("100,1", "10,2")):
        (row,) = model(*line, "--network", network, link=link)
        now = [row["microseconds"], *(i["microseconds"] for i in row["iterations"])]
        if last:
            assert all(a <= b for a, b in zip(now, last, strict=True))
        last = now


def test_schwarz_steps_exchange_nothing(model):
    line = ("--grid", "1,1,1,4", "--ranks-per-host", 1, "--schwarz")
    slow = "1,50"
    results = {}
    for steps in (2, 4, 8):
        for network in ("100,1", slow):
            (row,) = model(*line, steps, "--network", network)
            results[steps, network] = row["iterations"][2]
            assert row["iterations"][2]["hopping_terms"] == 2 * (1 + steps)
            assert row["iterations"][2]["exchanges"] == 2
    # What a step costs does not depend on the network, and is less than an application that does.
    for network in ("100,1", slow):
        step = (results[4, network]["microseconds"] - results[2, network]["microseconds"]) / 2
        assert step == pytest.approx((results[8, network]["microseconds"] - results[4, network]["microseconds"]) / 4)
        assert step == pytest.approx((results[4, slow]["microseconds"] - results[2, slow]["microseconds"]) / 2)
    (row,) = model(*line, 8, "--network", slow)
    assert row["iterations"][2]["gflops"] > 2 * row["iterations"][0]["gflops"]


def test_schwarz_in_another_precision(model, quarksmith):
    times(quarksmith.folder, "h.json", "half", us=LAUNCH + 30)
    line = ("--grid", "1,1,1,4", "--precision", "double", "--schwarz")
    same, half = (model(*line, steps, measured=("m.json", "h.json"))[0]["iterations"][2] for steps in ("4", "4:half"))
    assert half["microseconds"] < 0.6 * same["microseconds"]
    assert half["bytes_sent"] == same["bytes_sent"]


def test_times_on_several_ranks_are_compared_and_calibrate(model, quarksmith):
    rows = [{"precision": "double", "policy": "fused", "rhs": 1, "microseconds": 130}]
    times(quarksmith.folder, "four.json", lattice=(16, 16, 16, 64), grid=[1, 1, 1, 4], rows=rows)
    both = ("m.json", "four.json")
    (plain,) = model("--grid", "1,1,1,4", measured=both)
    assert plain["measured_us"] == 130
    assert plain["microseconds"] == pytest.approx(model("--grid", "1,1,1,4")[0]["microseconds"])
    (row,) = model("--grid", "1,1,1,4", "--calibrate", measured=both)
    assert row["microseconds"] == pytest.approx(130)
    assert row["parts"]["transfer_us"] == pytest.approx(plain["parts"]["transfer_us"])


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"grid": "1,1,1,3"}, "3 parts"),
        ({"link": "100"}, "link"),
        ({"link": "0,1"}, "link"),
        ({"precision": "single"}, "precision single"),
        ({"batch": 12}, "12 right-hand side(s)"),
        ({"reconstruct": "18"}, "18 reals"),
        ({"ranks_per_host": 2}, "network"),
        ({"grid": "2,2,4,2"}, "32 ranks"),
        ({"grid": ""}, "ranks"),
        ({"grid": "", "ranks": "3"}, "3 parts"),
        ({"grid": "1,1,1,1", "launch": 102}, "launch"),
        ({"schwarz": "no"}, "schwarz"),
        ({"schwarz": "4:half"}, "precision half"),
    ],
)
def test_wrong_use(refused, tmp_path, given, named):
    times(tmp_path)
    line = {"lattice": "16,16,16,16", "measured": "m.json", "grid": "1,1,1,4", "link": "1,1", **given}
    assert named in str(refused("model", **{key: value for key, value in line.items() if value}))


def test_files_that_do_not_serve(quarksmith):
    line = ("model", "--lattice", "8,8,8,8", "--grid", "1,1,1,2", "--link", "1,1", "--measured")
    assert "cannot be read" in quarksmith.refuses(*line, "missing.json")
    (quarksmith.folder / "bad.json").write_text('{"lattice": [8, 8, 8, 8]}')
    assert "not what `quarksmith bench --json`" in quarksmith.refuses(*line, "bad.json")
    (quarksmith.folder / "bad.json").write_text("lattice")
    assert "not what `quarksmith bench --json`" in quarksmith.refuses(*line, "bad.json")


@pytest.mark.parametrize("grid", ["1,1,1,2", "2,1,1,1"])
def test_bytes_are_those_that_ranks_send(mpirun, quarksmith, grid):  # noqa: F811
    """On the CPU, whose lanes make other faces than a GPU's blocks; and those of the iterations of a solve."""
    line = ("--lattice", "8,8,8,8", "--grid", grid)
    common = ("--device", "cpu", "--json", "s.json", "--precision", "double,half", "--seconds", "0.01")
    mpirun(2, "scaling", *line, *common)
    measured = mpirun.json("s.json")["rows"]
    quarksmith("model", *line, "--measured", "s.json", "--link", "10,1", "--target", "cpu", "--json", "m.json")
    rows = mpirun.json("m.json")["rows"]
    for row in rows:
        sent = {r["bytes_sent"] for r in measured if r["precision"] == row["precision"] and r["policy"] != "alone"}
        assert sent == {row["bytes_sent"]}


def test_other_hops_are_timed_but_are_no_measurements_of_the_model(mpirun, quarksmith):  # noqa: F811
    line = ("--lattice", "8,8,8,8", "--grid", "1,1,1,2")
    sent, flops = {}, {}
    for hop, links in (
        ("wilson", "12"),
        ("wilson_tinv", "12"),
        ("wilson,wilson_tinv", "12"),
        ("improved_staggered", "13"),
    ):
        common = ("--device", "cpu", "--precision", "double", "--seconds", "0.01", "--json", f"{hop}.json")
        mpirun(2, "scaling", *line, "--operator", hop, "--reconstruct", links, *common)
        data = mpirun.json(f"{hop}.json")
        assert data["operator"] == hop and all(r["gflops"] > 0 for r in data["rows"])
        sent[hop] = {r["bytes_sent"] for r in data["rows"] if r["policy"] != "alone"}
        flops[hop] = data["rows"][0]["gflops"] * data["rows"][0]["microseconds"]
    assert sent["wilson"] == sent["wilson_tinv"] == sent["wilson,wilson_tinv"] != sent["improved_staggered"]
    assert 2 * flops["wilson,wilson_tinv"] == pytest.approx(flops["wilson"] + flops["wilson_tinv"])
    refused = quarksmith.refuses("model", *line, "--measured", "wilson_tinv.json", "--link", "10,1", "--target", "cpu")
    assert "nothing was measured" in refused
    refused = quarksmith.refuses("scaling", "--operator", "wilson_t", "--device", "cpu")
    assert "--operator wilson_t" in refused and "wilson_tinv" in refused  # those that there are
