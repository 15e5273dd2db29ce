"""Files that measurements wrote are data of others: what goes into C++ is checked, and errors name file and field."""

import json

import pytest

from generator.__main__ import main
from generator.errors import SpecError
from generator.profile import load_profile
from generator.tune.evidence import COLUMNS, Field, check_kernels, read_field, read_samples, row_text, samples_file
from generator.tune.policies import policy_choices, tuning_of
from generator.tune.sweep import collect
from generator.tune.tuned import FOLDER, _text, choices, contribute, write_evidence

KERNEL = "wilson_double_r12_nr_n1"
DEV = load_profile("dev")
INJECTED = 'x", {}}; system("touch pwned"); //'


def row(**changes):
    plain = {"shape": ["box"], "block": 256, "min_blocks": 1, "status": "ok", "microseconds": 5.0}
    return {**plain, "registers": 9, "spills": 0, **changes}


def tuned(folder, device="Some GPU", name=KERNEL, size="large", digest="abc", **changes):
    folder.mkdir(exist_ok=True)
    rows = [row(**changes), row(shape=[], block=128, min_blocks=3, microseconds=9.0)]
    kernels = {name: {"digest": digest, "toolkit": "13.0", "classes": {size: rows}}}
    (folder / "gpu.json").write_text(json.dumps({"device": device, "target": "cuda", "kernels": kernels}))
    return (folder,)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"device": INJECTED}, "device"),
        ({"device": 7}, "device"),
        ({"device": "a\\"}, "device"),
        ({"name": INJECTED}, "a name in kernels"),
        ({"size": INJECTED}, "a name in kernels"),
        ({"digest": ["abc"]}, "digest"),
        ({"shape": [INJECTED]}, r"large\[0\].shape\[0\]"),
        ({"shape": "box"}, "shape"),
        ({"block": "256"}, "block"),
        ({"block": -32}, "block"),
        ({"min_blocks": 1.5}, "min_blocks"),
        ({"min_blocks": True}, "min_blocks"),
        ({"microseconds": "fast"}, "microseconds"),
        ({"microseconds": float("nan")}, "microseconds"),
        ({"status": None}, "status"),
    ],
)
def test_evidence_that_is_no_plain_data_is_refused(changes, field, tmp_path, capsys):
    folder = tuned(tmp_path / "tuned", **changes)
    with pytest.raises(SpecError, match=rf"gpu.json: .*{field}"):
        choices(DEV.kernels, folder)
    assert main(["generate", "--profile", "dev", "--out", str(tmp_path)]) == 2  # reads OUT/tuned
    message = capsys.readouterr().err
    assert message.startswith("generator: error: evidence") and message.count("\n") == 1


@pytest.mark.parametrize("text", ["{", "[]", "7", '{"device": "X"}', '{"device": "X", "kernels": []}', "[" * 100000])
def test_damaged_evidence_is_one_error(text, tmp_path):
    (tmp_path / "gpu.json").write_text(text)
    with pytest.raises(SpecError, match=r"gpu.json"):
        choices(DEV.kernels, (tmp_path,))


def test_launch_numbers_that_no_device_has_are_refused(tmp_path):
    with pytest.raises(SpecError, match="gpu.json: .*block is 100, not"):
        choices(DEV.kernels, tuned(tmp_path / "tuned", block=100))


def test_good_evidence_is_rendered(tmp_path):
    (found,) = choices(DEV.kernels, tuned(tmp_path / "tuned"))[0].values()
    assert {c.variant for c in found} == {f"{KERNEL}__box_b256m1", "wilson_dagger_double_r12_nr_n1__box_b256m1"}


@pytest.mark.parametrize(("pairs", "batch", "few"), [(5.1, "pairs", None), (7.0, "quads", "pairs")])
def test_groups_of_threads_have_right_hand_sides_of_their_own(pairs, batch, few, tmp_path):
    """Of two right-hand sides two of four groups would idle."""
    (folder,) = tuned(tmp_path / "tuned", size="batch", shape=["kept", "quads"])
    data = json.loads((folder / "gpu.json").read_text())
    data["kernels"][KERNEL]["classes"]["batch"].append(row(shape=["kept", "pairs"], microseconds=pairs))
    (folder / "gpu.json").write_text(json.dumps(data))
    found = {c.size: c.variant for c in choices(DEV.kernels, (folder,))[0]["Some GPU"] if c.kernel == KERNEL}
    assert batch in found["batch"]
    assert few in found["few"] if few else "few" not in found


def test_candidates_without_names_are_what_they_are_with_them(tmp_path):
    full = row(deviation=0.0) | {"microseconds": 5.0, "spread": 0.1}
    full = {name: full[name] for name in COLUMNS}
    rows = [full, {k: full[k] for k in COLUMNS[:6]} | {"status": "spills"}, full | {"more": 4.0}]
    texts = [row_text(r) for r in rows]
    assert [t[0] for t in texts] == ["[", "[", "{"]
    kernels = {KERNEL: {"digest": "abc", "classes": {"large": [json.loads(t) for t in texts]}}}
    assert check_kernels(Field(tmp_path, "kernels", kernels))[KERNEL]["classes"]["large"] == rows
    for damaged in ([*full.values(), 1], [["box"], "256"], [["box"], 256]):
        kernels[KERNEL]["classes"]["large"] = [damaged]
        with pytest.raises(SpecError, match=r"kernels.*large\[0\]"):
            check_kernels(Field(tmp_path, "kernels", kernels))


def test_what_is_written_is_read_again(tmp_path):
    (device,) = FOLDER.glob("nvidia_h200.json")
    data = json.loads(device.read_text())
    table = check_kernels(read_field(device)["kernels"])
    facts = {key: value for key, value in data.items() if key not in ("kernels", "columns")}
    text = _text(facts, table)
    assert text == device.read_text() and data["columns"] == list(COLUMNS)
    assert max(len(line) for line in text.splitlines() if line.startswith("    [")) <= 120


@pytest.mark.parametrize(
    ("cases", "field"),
    [
        ({INJECTED: {"first": 1}}, "a name in cases"),
        ({"tiny, grid 1x1x1x2, half": {INJECTED: 1}}, "a name in cases"),
        ({"tiny, grid 1x1x1x2, half": {"first": "1"}}, "first"),
        ({"tiny, grid 1x1x1x2, half": {"first": 0}}, "first"),
        ([], "cases"),
    ],
)
def test_policies_likewise(cases, field, tmp_path):
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "gpu.json").write_text(json.dumps({"device": "Some GPU", "cases": cases}))
    with pytest.raises(SpecError, match=f"gpu.json: .*{field}"):
        policy_choices([tmp_path])


def packed(folder, **changes):
    """A packed folder with one result; `changes` replace the text of its files."""
    folder.mkdir(exist_ok=True)
    candidate = {"module": "module.so", "kernel": f"{KERNEL}__box_b256m1", "base": KERNEL, **row()}
    sizes = {"large": {"lattice": [4, 4, 4, 4], "rhs": 1}}
    result = {"class": "large", "kernel": candidate["kernel"], "status": "ok", "deviation": 0.0, "microseconds": 5.0}
    files = {
        "device": json.dumps({"device": "Some GPU", "target": "cuda", "toolkit": "13.0"}),
        "candidates": json.dumps({"sizes": sizes, "digests": {KERNEL: "abc"}, "candidates": [candidate]}),
        "rejected": "[]",
        "results": json.dumps(result) + '\n{"class": "lar',  # cut off, as by a full disk
    }
    for name, text in (files | changes).items():
        (folder / f"{name}.json{'l' if name == 'results' else ''}").write_text(text)
    return folder


def test_a_packed_folder_is_collected(tmp_path):
    folder = packed(tmp_path / "p")
    assert list(collect(folder)) == [KERNEL]
    write_evidence(folder, DEV, tmp_path / "tuned")
    assert tuning_of(DEV.kernels, (tmp_path / "tuned",)).devices


def test_a_sweep_keeps_what_decides_and_its_samples_beside(tmp_path):
    """What others contribute without samples leaves none of what it replaces."""
    rows = [row(block=b, min_blocks=1, microseconds=us) for b, us in ((64, 5.0), (128, 6.0), (256, 7.0))]
    kernels = [{"module": "m", "kernel": f"k{n}", "base": KERNEL, **r} for n, r in enumerate(rows)]
    lines = [
        {"class": "large", "kernel": k["kernel"], "status": "ok", "deviation": 0.0, "microseconds": k["microseconds"]}
        for k in kernels
    ]
    sizes = {"large": {"lattice": [4, 4, 4, 4], "rhs": 1}}
    candidates = json.dumps({"sizes": sizes, "digests": {KERNEL: "abc"}, "candidates": kernels})
    results = "".join(json.dumps(line) + "\n" for line in lines)
    folder = packed(tmp_path / "p", candidates=candidates, results=results)
    path = write_evidence(folder, DEV, tmp_path / "build")
    (added,) = contribute(path.parent, tmp_path / "tuned", DEV.kernels)
    for evidence in (path, added):
        (decides,) = (read_field(evidence)["kernels"].value)[KERNEL]["classes"].values()
        assert [r[1] for r in decides] == [64]  # threads of the fastest
        (samples,) = read_samples(evidence, check_kernels(read_field(evidence)["kernels"])).values()
        assert [r["block"] for r in samples["classes"]["large"]] == [64, 128, 256]
    samples_file(path).unlink()
    contribute(path.parent, tmp_path / "tuned", DEV.kernels)
    assert KERNEL in read_field(added)["kernels"].value
    assert KERNEL not in read_samples(added, check_kernels(read_field(added)["kernels"]))


def test_a_sweep_of_some_classes_leaves_the_others_their_lattices(tmp_path):
    folder = packed(tmp_path / "p")
    path = write_evidence(folder, DEV, tmp_path / "tuned")
    candidates = json.loads((folder / "candidates.json").read_text())
    tiny = {"tiny": {"lattice": [2, 2, 2, 2], "rhs": 1}}
    (folder / "candidates.json").write_text(json.dumps(candidates | {"sizes": tiny}))
    write_evidence(folder, DEV, tmp_path / "tuned")
    assert json.loads(path.read_text())["sizes"] == candidates["sizes"] | tiny


@pytest.mark.parametrize(
    ("changes", "file"),
    [
        ({"results": "{\n"}, "results.jsonl"),
        ({"results": '{"kernel": "gone", "status": "ok"}\n'}, "results.jsonl: line 1.kernel"),
        (
            {"results": json.dumps({"kernel": f"{KERNEL}__box_b256m1", "status": "ok"}) + "\n"},
            "line 1.microseconds is missing",
        ),
        ({"results": "[]\n"}, "line 1"),
        ({"candidates": "[]"}, "candidates.json"),
        ({"candidates": '{"candidates": [{"kernel": "a b"}], "sizes": {}}'}, "candidates.json: candidates"),
        ({"device": '{"device": "a\\nb", "toolkit": "1"}'}, "device.json: device"),
        ({"device": '{"device": "X"}'}, "device.json: toolkit is missing"),
        ({"device": '{"device": "X", "toolkit": "1", "target": "tpu"}'}, "device.json: target"),
        ({"rejected": '[{"base": 7}]'}, "rejected.json"),
    ],
)
def test_a_damaged_packed_folder_is_status_2(changes, file, tmp_path, capsys):
    folder = packed(tmp_path / "p", **changes)
    arguments = ["sweep", "--collect", str(folder), "--profile", "dev", "--out", str(tmp_path)]
    assert main(arguments) == 2
    assert file in (message := capsys.readouterr().err) and "Traceback" not in message
    assert not (tmp_path / "tuned").exists()
