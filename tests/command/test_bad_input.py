"""Bad input gets one clear error that names the operands and the remedy, a non-zero status, and loses nothing."""

import numpy as np
import pytest

MASS = ("--mass", "0.3")
UNIT = ("--gauge", "unit:4,4,4,4")
OUT = ("--correlators", "c.json")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("propagator", *UNIT, *MASS), "--out FILE.h5"),
        (("propagator", *UNIT, *MASS, "--out", "p.h5", "--sink", "gaussian:1,2"), "--sink"),
        (("eigen", *UNIT, *MASS), "--out FILE.h5"),
    ],
)
def test_results_that_go_nowhere_are_refused(quarksmith, tmp_path, arguments, named):
    """In Python they have a place. What else is wrong use: tests/refusals_test.cpp and test_options.py."""
    assert named in quarksmith.refuses(*arguments)
    assert not list(tmp_path.iterdir())


FILES = {"folder": None, "empty": b"", "noise": bytes(range(256)) * 40, "broken.gz": b"\x1f\x8b" + bytes(50)}


@pytest.mark.parametrize("name", ["nowhere.ildg", *FILES])
def test_what_is_no_configuration_is_refused_by_name(quarksmith, tmp_path, name):
    """Damaged ones are found by tests/io_test.cpp and tests/fuzz."""
    if content := FILES.get(name):
        (tmp_path / name).write_bytes(content)
    elif name == "folder":
        (tmp_path / name).mkdir()
    assert f"{name}: " in quarksmith.refuses("info", name, "--lattice", "4,4,4,4", status=1)


def test_nothing_is_made_of_damaged_links(quarksmith, tmp_path):
    quarksmith("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--out", "u")
    data = bytearray((tmp_path / "u_00001.ildg").read_bytes())
    data[len(data) // 2] ^= 0x10
    (tmp_path / "u_00001.ildg").write_bytes(data)
    assert "u_00001.ildg: " in quarksmith.refuses("propagator", "--gauge", "u_00001.ildg", *MASS, *OUT, status=1)
    assert not (tmp_path / "c.json").exists()


def test_extents_that_are_missing_or_contradict(quarksmith, tmp_path):
    quarksmith("heatbath", "--lattice", "4,4,4,4", "--sweeps", "1", "--out", "u")
    assert "4x4x4x8" in quarksmith.refuses("info", "u_00001.ildg", "--lattice", "4,4,4,8")
    (tmp_path / "text").write_text("\n".join(["1.0"] * (256 * 72)))
    assert "--lattice" in quarksmith.refuses("info", "text")
    for extents in ("4,4,4,8", "4,4,4,2"):
        quarksmith.refuses("info", "text", "--lattice", extents, status=1)
    quarksmith.refuses("heatbath", "--resume", "text", "--sweeps", "1")
    assert "--beta" in quarksmith.refuses("heatbath", "--resume", "u_00001.ildg", "--sweeps", "1", "--beta", "5")


def text_configuration(path, change):
    """Unit links as text, changed by `change`."""
    links = np.zeros((256, 4, 3, 3, 2))
    links[..., range(3), range(3), 0] = 1
    change(links)
    path.write_text("\n".join(map(repr, links.ravel().tolist())))


def test_links_that_are_not_numbers_or_not_unitary(quarksmith, tmp_path):
    def poison(links):
        links[17, 2, 1, 1, 0] = np.nan

    text_configuration(tmp_path / "nan", poison)
    message = quarksmith.refuses("info", "nan", "--lattice", "4,4,4,4", status=1)
    assert "link z of site (1,0,1,0) is not finite" in message

    def stretch(links):
        links *= 1.1

    text_configuration(tmp_path / "stretched", stretch)
    gauge = ("--gauge", "stretched", "--lattice", "4,4,4,4")
    message = quarksmith.refuses("propagator", *gauge, *MASS, *OUT)
    assert "they deviate by 2.1e-01 from unitarity" in message and "add --allow-non-su3" in message
    for command in (("flow", *gauge[1:]), ("smear", "stout", gauge[1], "s.ildg", *gauge[2:])):
        assert "needs SU(3) links" in quarksmith.refuses(*command)
    allowed = ("propagator", *gauge, *MASS, *OUT, "--allow-non-su3")
    message = quarksmith.refuses(*allowed, "--reconstruct", "12")
    assert "needs SU(3) links" in message and "use 18 reals" in message
    assert "stored with 18 reals" in quarksmith(*allowed).stderr
    assert "not SU(3)" in quarksmith("info", *gauge[1:]).stdout
    assert "not SU(3)" in quarksmith("convert", *gauge[1:2], "s.ildg", *gauge[2:]).stderr


def test_no_convergence_is_status_1(quarksmith, tmp_path):
    arguments = ("propagator", "--gauge", "weak:0.3:4,4,4,4:1", "--mass", "-0.3", *OUT)
    message = quarksmith.refuses(*arguments, "--max-iterations", "3", status=1)
    assert "not converged: residual" in message and "--max-iterations" in message
    message = quarksmith.refuses(*arguments, "--precision", "single", "--tol", "1e-12", status=1)
    assert "not converged" in message and "--precision double" in message
    assert not list(tmp_path.iterdir())


def test_a_missing_gpu(quarksmith):
    message = quarksmith.refuses("bench", "--device", "cuda:7", "--lattice", "4,4,4,4", status=1)
    assert "cuda:7" in message and "use device cpu" in message
