"""`quarksmith links`: fat and long links as files."""

import numpy as np
import pytest
from independent import ildg_links

from tests.generator.fat_paths import expected

GAUGE = "weak:0.4:4,4,4,8:3"


def test_files_hold_what_the_actions_say_and_are_read_again(quarksmith):
    quarksmith("links", "--action", "asqtad", "--u0", 0.9, GAUGE, "--fat", "f.ildg", "--long", "l.ildg", "--json", "a")
    told = quarksmith.json("a")
    fat, long = (ildg_links(quarksmith.folder / name) for name in ("f.ildg", "l.ildg"))
    # A long link is a unitary matrix times the coefficient; fat links are no multiples of such.
    square = np.einsum("...ij,...kj->...ik", long, long.conj())
    assert np.abs(square - np.eye(3) / (24 * 0.81) ** 2).max() < 1e-16
    assert np.abs(np.einsum("...ij,...kj->...ik", fat, fat.conj())[..., 0, 1]).max() > 1e-3
    for name, links in (("fat", fat), ("long", long)):
        assert abs(told[name]["link_trace"] - np.einsum("...ii", links).real.mean() / 3) < 1e-14
        out = quarksmith("info", told[name]["file"]).stdout
        assert f"link trace   {told[name]['link_trace']:.12f}" in out
        assert "agrees" in out


@pytest.mark.parametrize(
    ("name", "options", "values"),
    [("asqtad", ("--u0", 0.87), {"u0": 0.87}), ("hisq", ("--epsilon", -0.13), {"epsilon": -0.13})],
)
def test_links_are_the_sums_over_all_paths(quarksmith, name, options, values):
    """Paths one by one, of a thermalised configuration as it stands in its file."""
    quarksmith("heatbath", "--lattice", "4,4,4,8", "--beta", 6, "--sweeps", 3, "--seed", 5, "--out", "u")
    quarksmith("links", "--action", name, *options, "u_00003.ildg", "--fat", "f.ildg", "--long", "l.ildg")
    read = lambda file: ildg_links(quarksmith.folder / file).transpose(3, 2, 1, 0, 4, 5, 6)  # noqa: E731
    wanted = expected(name, read("u_00003.ildg"), **values)
    for file, links in (("f.ildg", wanted["fat"]), ("l.ildg", wanted["long"])):
        assert np.abs(read(file) - links).max() < 1e-13


def test_hisq_of_unit_links_is_the_free_action(quarksmith):
    epsilon = -0.1
    options = ("--epsilon", epsilon, "--fat", "f.ildg", "--long", "l.ildg")
    quarksmith("links", "unit:4,4,4,8", *options, "--json", "h")
    for name, value in (("f.ildg", 1 + (1 + epsilon) / 8), ("l.ildg", -(1 + epsilon) / 24)):
        assert np.abs(ildg_links(quarksmith.folder / name) - value * np.eye(3)).max() < 1e-14
