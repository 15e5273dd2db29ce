"""Which devices' tuned variants a build holds."""

import json

import pytest

from generator.__main__ import main
from generator.errors import SpecError
from generator.profile import load_profile
from generator.tune.tuned import choices, select_devices

NAME = "wilson_double_r12_nr_n1"


def evidence(folder, device, shape, **facts):
    rows = [
        {"shape": shape, "block": 64, "min_blocks": 4, "status": "ok", "microseconds": 10.0},
        {"shape": [], "block": 128, "min_blocks": 3, "status": "ok", "microseconds": 20.0},
    ]
    entry = {NAME: {"digest": "", "toolkit": "", "classes": {"large": rows}}}
    name = device.lower().replace(" ", "_")
    (folder / f"{name}.json").write_text(json.dumps({"device": device, **facts, "kernels": entry}))


@pytest.fixture
def folders(tmp_path):
    evidence(tmp_path, "GPU A", [], target="cuda")
    evidence(tmp_path, "GPU B", ["stream"], target="cuda")
    evidence(tmp_path, "Some CPU x86-64-v3", ["rows"], target="cpu")
    return (tmp_path,)


def test_a_build_holds_the_devices_asked_for_and_every_cpu(folders):
    def found(devices):
        table, variants = choices(load_profile("dev").kernels, folders, devices)
        return set(table), {v.name for v in set().union(*variants.values()) if not v.dagger and v.epilogue == "none"}

    cpu, a, b = "Some CPU x86-64-v3", "GPU A", "GPU B"
    variant = {cpu: f"{NAME}__rows_b64m4", a: f"{NAME}__b64m4", b: f"{NAME}__stream_b64m4"}
    assert found(None) == ({cpu, a, b}, set(variant.values()))
    assert found(select_devices("gpu_a", folders)) == ({cpu, a}, {variant[cpu], variant[a]})
    assert found(select_devices("GPU B,gpu_a", folders)) == ({cpu, a, b}, set(variant.values()))
    assert found(select_devices("none", folders)) == ({cpu}, {variant[cpu]})


def test_an_unknown_device_is_one_clear_error(folders, tmp_path, capsys):
    with pytest.raises(SpecError, match="'GPU C' is kept; known are gpu_a, gpu_b"):
        select_devices("GPU A,GPU C", folders)
    assert main(["generate", "--devices", "nothing", "--out", str(tmp_path / "out")]) == 2
    assert "known are" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_results_of_this_machine_stand_beside_those_of_the_project(tmp_path, capsys):
    """`make tune` keeps them in the build folder; `contribute` adds them to the others."""
    project, own = tmp_path / "generated/tuned", tmp_path / "build/tuned"
    sizes = {"large": {"lattice": [4, 4, 4, 4], "rhs": 1}}
    for folder, shape in ((project, []), (own, ["stream"])):
        folder.mkdir(parents=True)
        evidence(folder, "GPU A", shape, target="cuda", toolkit="", sizes=sizes)
    before = (project / "gpu_a.json").read_bytes()
    table, variants = choices(load_profile("dev").kernels, (project, own))
    assert {c.variant for c in table["GPU A"] if c.kernel == NAME} == {f"{NAME}__stream_b64m4"}
    assert f"{NAME}__b64m4" not in {v.name for v in variants["cuda"]}
    out = tmp_path / "out"
    assert main(["generate", "--profile", "dev", "--out", str(out), "--tuned", str(own)]) == 0
    assert "GPU A" in (out / "tuned.cpp").read_text() and (project / "gpu_a.json").read_bytes() == before
    assert main(["contribute", str(own), "--out", str(tmp_path / "generated")]) == 0
    assert '"stream"' in (project / "gpu_a.json").read_text()
    assert main(["contribute", str(tmp_path / "nowhere")]) == 2
    assert "holds no results; `make tune` measures this machine" in capsys.readouterr().err


def test_generate_leaves_out_what_was_not_asked_for(tmp_path):
    (tmp_path / "tuned").mkdir()
    evidence(tmp_path / "tuned", "GPU A", [], target="cuda")
    for devices, kept in (("none", False), ("gpu_a", True)):
        assert main(["generate", "--profile", "dev", "--devices", devices, "--out", str(tmp_path)]) == 0
        text = "".join(path.read_text() for path in (tmp_path / "cuda").glob("wilson_double*.cu"))
        assert (f"void {NAME}__b64m4(" in text) == kept
        assert ("GPU A" in (tmp_path / "tuned.cpp").read_text()) == kept
