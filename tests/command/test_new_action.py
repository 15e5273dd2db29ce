"""What a statement says of its parameters is all that the command needs to take, check, record and explain them."""

import pytest
from relink import compiled, own_command

from generator.actions import ACTIONS
from generator.emit.action_table import action_table
from generator.emit.render import render
from generator.language import Fermion, Links, Real, action, parameter, spelling
from generator.lower.record import lower
from generator.operators import RECORDS

GAUGE = ("--gauge", "weak:0.3:4,4,4,4:3", "--device", "cpu")


@action
class Probe(ACTIONS["wilson"].statement):
    """Wilson fermions whose mass a probe shifts; the hops, and with them the kernels, are Wilson's."""

    strength: Real = parameter(0.5, help="shift of the mass", unit="1/a", lower=0, upper=2)
    charge = spelling(lambda e, g: {"strength": e * g / 2}, help="half of their product shifts the mass", upper=9)

    def dirac(self, u: Links, psi: Fermion) -> Fermion:
        return super().dirac(u, psi) + self.strength * psi


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    folder = tmp_path_factory.mktemp("action")
    ACTIONS["probe"], RECORDS["probe"] = Probe.action, lower(Probe.action)
    try:
        text = render("actions.cpp.j2", "a test", **action_table())
    finally:
        del ACTIONS["probe"], RECORDS["probe"]
    (folder / "actions.cpp").write_text(text)
    return own_command(folder, [compiled(folder / "actions.cpp", "/generated/actions.cpp")])


def pion(own, *arguments):
    own("propagator", *GAUGE, *arguments, "--correlators", "c.json", "--overwrite")
    return own.json("c.json")


def test_it_is_solved_for_and_recorded(own):
    shifted = pion(own, "--action", "probe", "--kappa", "0.125", "--strength", "0.3")
    assert {k: shifted["provenance"][k] for k in ("action", "mass", "strength")} == {
        "action": "probe", "mass": 0, "strength": 0.3,
    }  # fmt: skip
    wilson = pion(own, "--action", "wilson", "--mass", "0.3")
    assert shifted["correlators"]["pion"] == pytest.approx(wilson["correlators"]["pion"], rel=1e-8)
    assert "strength" not in wilson["provenance"]
    spelled = pion(own, "--action", "probe", "--mass", "0", "--charge", "1.5,0.4")
    assert spelled["correlators"]["pion"] == pytest.approx(wilson["correlators"]["pion"], rel=1e-8)


def test_help_tells_of_it(own):
    text = " ".join(own("propagator", "--help").stdout.split())
    assert "shift of the mass in 1/a, a number from 0 to 2 (default 0.5) (probe)" in text
    assert "e,g: half of their product shifts the mass, a number of at most 9 (probe)" in text


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("probe", "--strength", "3"), "--strength 3"),
        (("probe", "--charge", "3"), "--charge '3'"),
        (("probe", "--charge", "2,4"), "strength 4"),
        (("probe", "--charge", "2,10"), "--charge 2,10"),
        (("probe", "--charge", "1,1", "--strength", "1"), "--charge"),
        (("probe", "--csw", "1"), "--csw"),
        (("clover", "--csw", "1", "--strength", "1"), "--strength"),
    ],
)
def test_its_options_are_checked(own, options, named):
    assert named in own.refuses("propagator", *GAUGE, "--mass", "0.1", "--correlators", "x.json", "--action", *options)
