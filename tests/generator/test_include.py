"""What a profile gets besides its rows."""

import re

import pytest

from generator.__main__ import main
from generator.errors import SpecError
from generator.include import SETS
from generator.profile import load_profile

WILSON = """[[kernel]]
operator = "{operator}"
epilogue = ["{epilogue}"]
precision = ["{precision}"]
links = [{links}]
basis = ["{basis}"]
tile = [{tile}]
"""
STAGGERED = '[[kernel]]\noperator = "improved_staggered"\nprecision = ["half"]\nlinks = [13]\ntile = [1]\n'
WALL = '[[kernel]]\noperator = "domain_wall"\nprecision = ["single"]\nbasis = ["non_relativistic"]\n'


def wilson(operator="wilson", epilogue="none", precision="half", links="12", basis="degrand_rossi", tile="1"):
    axes = {"precision": precision, "links": links, "basis": basis, "tile": tile}
    return WILSON.format(operator=operator, epilogue=epilogue, **axes)


def names(text, tmp_path):
    path = tmp_path / "my.toml"
    path.write_text(text)
    return {s.name for s in load_profile(str(path)).kernels}


@pytest.mark.parametrize(
    ("text", "needed", "not_needed"),
    [
        (
            wilson(),
            "wilson_double_r12_dr_n1 wilson_dagger_axpby_half_r12_dr_n1 import_half_s4 encode_links_half_r12 "
            "bicgstab_step_half gcr_project_double block_dot_half plaquette_double_r18 heatbath_double_r18 "
            "laplace3_axpby_double_r12_n1 stout4_step_double_r18 jacobi_step_double_r12_s4 "
            "wilson_double_r18_dr_n1 wilson_dagger_axpby_double_r18_dr_n1",
            "term_clover_double apply_term_half_dr rotate_colour_double import_half_s1 scale_single",
        ),
        (
            wilson(precision="double", basis="non_relativistic"),
            "force_wilson_double_r18_nr rotate_colour_double",
            "turn_colour_double_s1",
        ),
        (
            wilson(epilogue="taxpby"),
            "wilson_dagger_axpby_tinv_double_r12_dr_n1 apply_term_half_dr term_clover_double invert_term_double "
            "encode_term_half decode_term_half",
            "apply_twist_half_dr",
        ),
        (
            wilson("twisted_clover_doublet", "tinv", tile="2"),
            "wilson_axpby_half_r12_dr_n1 twisted_clover_doublet_dagger_taxpby_double_r12_dr_n2 "
            "apply_doublet_twisted_term_half_dr_n2 invert_twisted_term_double "
            "twisted_clover_doublet_dagger_axpby_tinv_double_r18_dr_n2",
            "apply_term_half_dr",
        ),
        (
            wilson(links='"12t"'),
            "rotate_colour_double wilson_double_r12t_dr_n1 wilson_dagger_double_r18_dr_n1",
            "laplace3_axpby_double_r12t_n1 wilson_double_r18t_dr_n1",
        ),
        (wilson(precision="bits24"), "cg_direction_bits24 import_bits24_s4 gcr_project_double", "gcr_project_bits24"),
        (
            STAGGERED,
            "improved_staggered_axpby_double_r13_n1 cg_residual_half_s1 import_half_s1 set_naiks_double "
            "encode_links_half_r18 encode_links_half_r13 improved_staggered_axpby_double_r18_n1",
            "bicgstab_step_half bicgstab_step_half_s1 import_half_s4 improved_staggered_dagger_half_r13_n1",
        ),
        (
            WALL,
            "domain_wall_dagger_axpby_double_nr wilson_single_r12_nr_n1 wilson_dagger_axpby_double_r12_nr_n1 "
            "cg_direction_single encode_links_single_r12 wilson_dagger_axpby_double_r18_nr_n1",
            "term_clover_double",
        ),
    ],
    ids="wilson,dynamics,clover,twisted doublet,temporal gauge,bits24,improved staggered,domain wall".split(","),
)
def test_what_follows_from_a_row(text, needed, not_needed, tmp_path):
    found = names(text, tmp_path)
    assert not set(needed.split()) - found
    assert not set(not_needed.split()) & found


def test_include_is_chosen_and_rows_are_left_out(tmp_path):
    alone = {"wilson_half_r12_dr_n1"}
    assert names("include = []\n" + wilson(), tmp_path) == alone
    assert names(wilson() + "include = false\n", tmp_path) < names(wilson(), tmp_path)
    assert names('include = ["heatbath"]\n' + wilson(), tmp_path) == alone | {
        f"{n}_double_r18" for n in ("plaquette", "heatbath", "overrelax")
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('include = ["everything"]\n', "include = 'everything' is unknown; use some of solve, heatbath, smear"),
        ('include = "solve"\n', "use a list"),
        ('[[kernel]]\noperator = "axpby"\nprecision = ["double"]\ninclude = ["solve"]\n', "use true or false"),
    ],
)
def test_what_is_no_set_is_refused(text, message, tmp_path):
    with pytest.raises(SpecError, match=re.escape(message)):
        names(text, tmp_path)


def test_wilson_kernels_of_the_default_profile_run_on_several_gpus():
    """In both bases: callers of the C interface keep their fields in that of files."""
    kernels = [s for s in load_profile("default").kernels if s.operator.name == "wilson" and s.coefficient == "real"]
    assert {s.basis.short for s in kernels} == {"nr", "dr"}
    assert all(s.ranks for s in kernels if s.tile == 1 and s.colours == 3)


def test_a_profile_extends_another(tmp_path):
    (tmp_path / "there").mkdir()
    base = "include = []\n" + wilson() + "ranks = [true]\n[budget]\nkernels = 1\n"
    (tmp_path / "there" / "base.toml").write_text(base)
    own = 'extends = "there/base.toml"\n' + wilson(links="12, 18")
    assert names(own, tmp_path) == {"wilson_half_r12_dr_n1", "wilson_half_r18_dr_n1"}
    ranks = {s.links: s.ranks for s in load_profile(str(tmp_path / "my.toml")).kernels}
    assert ranks == {"r12": True, "r18": False}  # a row adds to what another asks for
    assert len(names('include = ["heatbath"]\n' + own, tmp_path)) == 5
    assert names('extends = "dev"\n' + wilson(), tmp_path) == {
        "wilson_half_r12_dr_n1",
        *(s.name for s in load_profile("dev").kernels),
    }


@pytest.mark.parametrize(
    ("extends", "message"),
    [
        ('"nowhere"', "my.toml, extends: profile 'nowhere' is unknown; use one of default, dev"),
        ('"nowhere.toml"', "my.toml, extends: profile 'nowhere.toml' is unknown"),
        ('["default"]', "my.toml, extends: ['default'] is no name; use that of one profile"),
        ('"my.toml"', "extends itself: my.toml -> my.toml; drop one"),
        ('"other.toml"', "extends itself: my.toml -> other.toml -> my.toml; drop one"),
        ('"broken.toml"', "broken.toml, [[kernel]] number 1: precision = 'huge' is unknown"),
    ],
)
def test_what_cannot_be_extended_is_refused(extends, message, tmp_path):
    (tmp_path / "other.toml").write_text('extends = "my.toml"\n')
    (tmp_path / "broken.toml").write_text(wilson(precision="huge"))
    with pytest.raises(SpecError, match=re.escape(message)):
        names(f"extends = {extends}\n", tmp_path)


def test_explain_tells_what_each_set_costs(tmp_path, capsys):
    count = len(names(wilson(), tmp_path))
    assert main(["explain", "--profile", str(tmp_path / "my.toml")]) == 0
    out = capsys.readouterr().out
    rows = re.findall(r"^  (\(the rows\)|\w+) +(\d+) +(\d+)  \d+$", out, flags=re.M)
    assert [r[0] for r in rows] == ["(the rows)", *SETS]
    assert sum(int(r[1]) for r in rows) == count
    assert f" {sum(int(r[2]) for r in rows)} lines" in out
