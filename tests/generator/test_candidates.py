"""Candidates of sweeps: what is compiled for a kernel, and what of it is measured."""

import pytest

from generator.emit.render import render_group
from generator.errors import SpecError
from generator.folders import ROOT
from generator.launch import REGISTER_TILE
from generator.profile import load_profile
from generator.shapes import MOST_GROUPS, groups
from generator.targets import GPU, HOST, TARGETS
from generator.tune.candidates import Chosen, candidates, digest, tunable
from generator.tune.sweep import SPILL_LIMIT, _distinct, _read_report, part_of

PROFILE = load_profile("default")
FORCES = [
    "plane_staples_double_r18",
    "force_rectangle_double_r18",
    "force_d234_double_r18_nr",
    "back_u3s_double",
]


def test_expressions_are_swept():
    assert {spec.name for spec in tunable(PROFILE, GPU, Chosen(FORCES))} == set(FORCES)


@pytest.mark.parametrize("name", FORCES)
def test_of_expressions_launches_and_the_order_of_sites_are_compared(name):
    spec = PROFILE.find(name)
    found = candidates(spec, GPU, quick=False)
    launches = {shape: {(c.block, c.min_blocks) for c in found if c.shape == shape} for shape in ((), ("box",))}
    assert len(found) == sum(map(len, launches.values())) == len({c.name for c in found})
    assert launches[()] == launches["box",] | {(spec.block, spec.min_blocks)}
    assert {block for block, _ in launches["box",]} == {64, 128, 256}
    boxed = [c for c in found if c.shape][:1]
    assert "Boxes" in render_group(boxed, GPU, "a test") and "Boxes" not in render_group(found[:1], GPU, "a test")


def test_a_quick_sweep_has_launches_alone_and_processors_nothing_to_compare():
    spec = PROFILE.find(FORCES[0])
    assert {(c.shape, c.block) for c in candidates(spec, GPU, quick=True)} == {((), 128)}
    assert len(candidates(spec, HOST, quick=False)) == 1


def test_kernels_of_other_colours_are_not_swept():
    """Candidates are compared on links of three colours; a sweep of the whole profile must not end at others."""
    assert any(s.colours != 3 for s in PROFILE.kernels)
    assert {s.colours for s in tunable(PROFILE, GPU, Chosen())} == {3}


def test_parts_have_every_kernel_once_and_what_is_known_is_left_out():
    every = tunable(PROFILE, GPU, Chosen())
    parts = [tunable(PROFILE, GPU, Chosen(part=(k, 3))) for k in (1, 2, 3)]
    assert sorted(s.name for part in parts for s in part) == sorted(s.name for s in every)
    known = frozenset(digest(s, GPU) for s in every[::2])
    left = tunable(PROFILE, GPU, Chosen(known=known))
    assert left and not known & {digest(s, GPU) for s in left} and len(left) <= len(every[1::2])
    assert not tunable(PROFILE, GPU, Chosen(known=frozenset(digest(s, GPU) for s in every)))


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/0", "1/x"])
def test_what_is_no_part_is_refused(text):
    assert part_of("2/3") == (2, 3)
    with pytest.raises(SpecError, match="--part"):
        part_of(text)


def test_the_runtime_knows_how_many_groups_of_threads_share_links():
    assert f" most_sharing_groups = {MOST_GROUPS};" in (ROOT / "runtime" / "tuning.hpp").read_text()
    assert max(groups((shape,)) for shape in GPU.shapes) == MOST_GROUPS


def test_tiles_that_share_links_in_registers_have_no_form_in_shared_memory():
    assert f" register_tile = {REGISTER_TILE};" in (ROOT / "runtime" / "tuning.hpp").read_text()
    of_tile = {s.tile: s for s in PROFILE.kernels if s.name.startswith("improved_staggered_single_r13_n")}
    kept = {tile: any("kept" in c.shape for c in candidates(s, GPU, quick=False)) for tile, s in of_tile.items()}
    assert kept == {1: True, 2: True, 4: False, 8: False}
    text = {tile: render_group([s], GPU, "a test") for tile, s in of_tile.items()}
    assert text[4].count("Rhs::alone") == 2 and "Rhs::" not in text[1]  # its own, and that of several GPUs


def test_groups_of_threads_share_the_links_of_a_batch():
    """A candidate of each number of groups; more sites than their links have shared memory for are left out."""
    spec = PROFILE.find("wilson_double_r12_nr_n1")
    found = candidates(spec, GPU, quick=False)
    forms = {"quads": "Rhs::quads", "pairs": "Rhs::pairs", "kept": "Rhs::batch"}
    for shape, form in forms.items():
        one = next(c for c in found if shape in c.shape and (shape != "kept" or groups(c.shape) == 1))
        assert f"{one.block}, {one.min_blocks}, InOrder, {form}" in render_group([one], GPU, "a test")
    assert all("kept" in c.shape for c in found if groups(c.shape) > 1)
    links = 8 * 12 * 8  # bytes of a site's
    assert all(c.block // groups(c.shape) * links <= GPU.threads.shared for c in found if "kept" in c.shape)
    assert max(c.block for c in found if groups(c.shape) == 1 and "kept" in c.shape) == 256
    assert max(c.block for c in found if groups(c.shape) == 2) == 512


def ptxas(spills):
    """The assembler's report on some candidates, and these."""
    specs = [PROFILE.find(FORCES[0]).as_variant((), 64, n + 1) for n in range(len(spills))]
    log = "".join(
        f"ptxas info    : Compiling entry function '_ZN10quarksmith4cuda6kernelINS0_{len(s.name) + 4}{s.name}_rowEEEvv'"
        f" for 'sm_90'\n    0 bytes stack frame, {n} bytes spill stores, {n} bytes spill loads\n"
        f"ptxas info    : Used {168 - n // 8} registers\n"
        for s, n in zip(specs, spills, strict=True)
    )
    return log, specs


@pytest.mark.parametrize("least", [0, 200])
def test_candidates_are_left_out_that_spill_more_than_the_best_of_their_kernel(least):
    """Where even all registers are not enough, what spills least is measured."""
    log, specs = ptxas([least + SPILL_LIMIT + 8, least, least + SPILL_LIMIT])
    found = _read_report(GPU.compiler, log, FORCES[0], specs)
    assert [c.spills - least for c in found] == [SPILL_LIMIT + 8, 0, SPILL_LIMIT]
    assert [c.rejected for c in found] == [f"spills {least + SPILL_LIMIT + 8} bytes", "", ""]


def test_bounds_that_leave_the_code_as_it_is_are_measured_once():
    log, specs = ptxas([0, 0, 8])
    assert [c.spec for c in _distinct(_read_report(GPU.compiler, log, FORCES[0], specs))] == [specs[0], specs[2]]


def test_the_report_of_clang_is_read_in_its_order():
    """Registers come before the spills of the same kernel; a kernel is named before both."""
    spec = PROFILE.find(FORCES[0])
    lines = (f"Function Name: _ZN10quarksmith3hip6kernelINS0_{len(spec.name) + 4}{spec.name}_rowELi64EE",)
    lines += (
        "    SGPRs: 42",
        "    VGPRs: 201",
        "    AGPRs: 0",
        "    ScratchSize [bytes/lane]: 1288",
        "    SGPRs Spill: 2",
    )
    log = "".join(f"./kernel.hpp:1:1: remark: {line} [-Rpass-analysis=kernel-resource-usage]\n" for line in lines)
    (found,) = _read_report(TARGETS["hip"].compiler, log, FORCES[0], [spec])
    assert (found.registers, found.spills) == (201, 1288)


def test_links_are_kept_where_those_of_a_wavefront_fit():
    """Eight links of 18 doubles a thread are 74 KB for 64 threads; a compute unit of AMD's has 64 KB."""
    spec = PROFILE.find("wilson_double_r18_nr_n1")
    kept = {t.name: [c for c in candidates(spec, t, quick=True) if "kept" in c.shape] for t in TARGETS.values()}
    assert kept["cuda"] and not kept["hip"]
    half = candidates(PROFILE.find("wilson_half_r12_nr_n1"), TARGETS["hip"], quick=True)
    assert any("kept" in c.shape for c in half)
