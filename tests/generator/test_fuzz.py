"""Damaged JSON of measurements, of every kind that the generator reads: one line that names the file, no traceback.

QUARKSMITH_FUZZ_SECONDS (default 5) and QUARKSMITH_FUZZ_SEED (default: the day) say how long and with which files;
a failure tells its seed.
"""

import copy
import datetime
import json
import os
import random
import time

import pytest

from generator.errors import SpecError
from generator.profile import load_profile
from generator.tune.policies import add_evidence, policy_choices
from generator.tune.report import read_evidence, report
from generator.tune.sweep import collect
from generator.tune.tuned import choices, write_evidence

SECONDS = float(os.environ.get("QUARKSMITH_FUZZ_SECONDS", "5"))
LEAST = 20
SEED = int(os.environ.get("QUARKSMITH_FUZZ_SEED", datetime.date.today().strftime("%Y%m%d")))
DEV = load_profile("dev")
KERNEL = "wilson_double_r12_nr_n1"
ROW = {
    "shape": ["box"],
    "block": 256,
    "min_blocks": 1,
    "status": "ok",
    "microseconds": 5.0,
    "registers": 9,
    "spills": 0,
}
CLASSES = {"large": [ROW, ROW | {"shape": [], "microseconds": 9.0}, ROW | {"status": "wrong"}], "small": [ROW]}
SIZES = {"large": {"lattice": [16, 8, 8, 8], "rhs": 1}, "small": {"lattice": [4, 4, 4, 4], "rhs": 1}}
EVIDENCE = {
    "device": "Some GPU",
    "target": "cuda",
    "toolkit": "13.0",
    "sizes": SIZES,
    "kernels": {KERNEL: {"digest": "abc", "toolkit": "13.0", "classes": CLASSES}},
}
POLICIES = {"device": "Some GPU", "cases": {"tiny, grid 1x1x1x2, half": {"first": 3.0, "peer": 2.5, "fused": 2}}}
SCALING = {
    "device_name": "Some GPU",
    "half_sites": 4096,
    "grid": [1, 1, 1, 4],
    "rows": [
        {"precision": "half", "policy": p, "rhs": 1, "microseconds": 2.0 + n} for n, p in enumerate(("first", "peer"))
    ],
}
CANDIDATE = {"module": "module.so", "kernel": f"{KERNEL}__box_b256m1", "base": KERNEL, **ROW}
PACKED = {
    "device.json": {"device": "Some GPU", "target": "cuda", "toolkit": "13.0"},
    "candidates.json": {"sizes": SIZES, "digests": {KERNEL: "abc"}, "candidates": [CANDIDATE]},
    "rejected.json": [CANDIDATE | {"status": "spills"}],
    "results.jsonl": {
        "class": "large",
        "kernel": CANDIDATE["kernel"],
        "status": "ok",
        "microseconds": 5.0,
        "spread": 0.1,
    }
    | {"deviation": 0.0},
}
ODD = (
    *(None, True, False, 0, 1, -1, 7, 2**31, 2**63, 10**400, 1.5, -0.0, 1e308, float("inf"), float("nan")),
    *("", "x", "a b", "box", "ok", 'x", {}}; system("touch pwned"); //', "a\nb", "\x1b[31m", "\\", "é" * 300, "\ud800"),
    *([], {}, [[]], [None], {"": None}, {"device": {}}, [1, 2, 3, 4, 5], "../../etc/passwd"),
)


def places(value, path=()):
    """All places of a JSON value, the root first."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in inner:
        yield from places(member, (*path, key))


def damage_value(value, dice):
    """A member replaced, removed, renamed, or put elsewhere."""
    value = copy.deepcopy(value)
    path = dice.choice(list(places(value)))
    if not path:
        return dice.choice(ODD)
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    kind = dice.randrange(5)
    if kind == 0:
        del holder[path[-1]]
    elif kind == 1 and isinstance(holder, dict):
        holder[str(dice.choice(ODD))] = holder.pop(path[-1])
    elif kind == 2:
        holder[path[-1]] = [holder[path[-1]]]
    else:
        holder[path[-1]] = copy.deepcopy(dice.choice(ODD))
    return value


def damage_text(text, dice):
    """Bytes changed, cut off, or doubled."""
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    if not data:
        return b"\0"
    at = dice.randrange(len(data))
    kind = dice.randrange(5)
    if kind == 0:
        del data[at:]
    elif kind == 1:
        data[at] ^= 1 << dice.randrange(8)
    elif kind == 2:
        data[at:at] = data[: dice.randrange(200)]
    elif kind == 3:
        del data[at : at + dice.randrange(1, 20)]
    else:
        data[at:at] = dice.choice([b"[" * 100000, b"\xff\xfe", b"\0", b"NaN", b"9" * 5000, b'"', b"1e999"])
    return bytes(data)


def write_damaged(path, value, dice):
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        value = damage_value(value, dice)
    text = json.dumps(value) + "\n"
    path.write_bytes(damage_text(text, dice) if dice.randrange(3) == 0 else text.encode())


def read_tuned(folder, dice):
    write_damaged(folder / "gpu.json", EVIDENCE, dice)
    choices(DEV.kernels, (folder,))


def read_report(folder, dice):
    write_damaged(folder / "gpu.json", EVIDENCE, dice)
    report(read_evidence(folder / "gpu.json", DEV.kernels))


def read_policies(folder, dice):
    (folder / "policies").mkdir(exist_ok=True)
    write_damaged(folder / "policies" / "gpu.json", POLICIES, dice)
    policy_choices([folder])


def read_scaling(folder, dice):
    write_damaged(folder / "gpu.json", SCALING, dice)
    out = folder / "out"
    add_evidence([folder / "gpu.json"], out)
    policy_choices([out / "tuned"])  # what was written is sound


def read_packed(folder, dice):
    for name, value in PACKED.items():
        (folder / name).write_text(json.dumps(value) + "\n")
    for name in dice.sample(sorted(PACKED), dice.choice((1, 1, 2))):
        write_damaged(folder / name, PACKED[name], dice)
    collect(folder)
    out = folder / "tuned"
    write_evidence(folder, DEV, out)
    choices(DEV.kernels, (out,))


READERS = (read_tuned, read_report, read_policies, read_scaling, read_packed)


@pytest.mark.parametrize("reader", READERS)
def test_damaged_measurements_are_one_line(reader, tmp_path):
    end = time.monotonic() + SECONDS / len(READERS)
    count = refused = 0
    while time.monotonic() < end or count <= LEAST:  # a busy machine takes its time
        seed = f"{SEED} {reader.__name__} {count}"
        folder = tmp_path / str(count)
        folder.mkdir()
        count += 1
        try:
            reader(folder, random.Random(seed))
        except SpecError as error:
            message = str(error)
            refused += 1
            assert str(folder) in message, f"seed {seed!r}: names no file: {message}"
            assert message.isprintable() and len(message) < 1000, f"seed {seed!r}: {message!r}"
        except OSError as error:
            assert str(folder) in str(error), f"seed {seed!r}: {error}"
        except Exception as error:  # what would end in a traceback
            raise AssertionError(f"seed {seed!r}: {error!r}; {folder}") from error
    assert refused > count / 4
