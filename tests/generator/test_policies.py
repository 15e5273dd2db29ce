"""Evidence of policies and what is chosen from it."""

import json

import pytest

from generator.__main__ import main
from generator.errors import SpecError
from generator.tune.policies import PolicyChoice, add_evidence, policy_choices


def result(folder, name, half_sites, times, device="Some GPU", precision="half", rhs=1, link="peer"):
    rows = [
        {"precision": precision, "policy": policy, "rhs": rhs, "microseconds": us, "gflops": 1, "bytes_sent": 0}
        for policy, us in times.items()
    ]
    path = folder / f"{name}.json"
    path.write_text(
        json.dumps({"device_name": device, "half_sites": half_sites, "grid": [1, 1, 1, 4], "link": link, "rows": rows})
    )
    return path


def test_the_fastest_of_each_kind_of_work_is_chosen(tmp_path):
    tiny = result(tmp_path, "tiny", 4096, {"alone": 1, "overlap": 90, "first": 80, "peer": 6, "fused": 5})
    large = result(tmp_path, "large", 1 << 20, {"overlap": 60, "first": 70, "peer": 30, "fused": 31})
    more = result(tmp_path, "more", 1 << 20, {"overlap": 60, "first": 70, "peer": 30, "fused": 20}, precision="double")
    file = add_evidence([tiny, large], tmp_path)
    assert file == tmp_path / "tuned" / "policies" / "some_gpu.json"
    batch = result(tmp_path, "batch", 1 << 20, {"overlap": 600, "first": 600, "peer": 210, "fused": 300}, rhs=12)
    hosts = result(tmp_path, "hosts", 1 << 20, {"overlap": 95, "first": 100, "mixed": 90}, link="mixed")
    add_evidence([more, batch, hosts], tmp_path)  # added to what is there
    assert policy_choices([tmp_path / "tuned"]) == {
        "Some GPU": [
            PolicyChoice("mpi", "large", "double", False, "overlap"),
            PolicyChoice("peer", "large", "double", False, "fused"),
            PolicyChoice("mpi", "large", "half", False, "overlap"),
            PolicyChoice("peer", "large", "half", False, "peer"),
            PolicyChoice("mpi", "large", "half", True, "first"),
            PolicyChoice("peer", "large", "half", True, "peer"),
            PolicyChoice("mpi", "tiny", "half", False, "first"),
            PolicyChoice("peer", "tiny", "half", False, "fused"),
            PolicyChoice("mixed", "large", "half", False, "mixed"),
        ]
    }


def test_results_of_two_devices_and_foreign_files_are_refused(tmp_path):
    one, other = result(tmp_path, "a", 8, {"first": 1}), result(tmp_path, "b", 8, {"first": 1}, device="Another")
    with pytest.raises(SpecError, match="one device"):
        add_evidence([one, other], tmp_path)
    foreign = tmp_path / "c.json"
    foreign.write_text("{}")
    with pytest.raises(SpecError, match="no result of `quarksmith scaling"):
        add_evidence([foreign], tmp_path)
    other = json.loads(one.read_text()) | {"operator": "wilson_tinv"}
    one.write_text(json.dumps(other))
    with pytest.raises(SpecError, match="wilson: policies"):
        add_evidence([one], tmp_path)


def test_the_command_tells_what_it_chose(tmp_path, capsys):
    path = result(tmp_path, "a", 1 << 16, {"first": 3, "overlap": 2, "peer": 1})
    assert main(["policies", str(path), "--out", str(tmp_path)]) == 0
    assert "Some GPU, link peer, small parts, half: peer" in capsys.readouterr().out
