"""Every argument of every call: what is refused, by kind of mistake and name, in the words of Python.

The members are those of tests/refusals_test.cpp, which goes through them at the other doors.
"""

import re
from collections.abc import Iterator
from math import inf, nan, nextafter

import pytest

NUMBERS = ("FLOAT", "INT", "UINT")


def bounds(member) -> tuple[float, float, bool]:
    """The range that help shows; whether numbers may reach its ends."""
    low = re.search(r"(above|at least|^)\s*(-?[\d.e+-]+)", member.range)
    high = re.search(r"(?:to|below) (-?[\d.e+-]+)$", member.range)
    return float(low[2]) if low else -inf, float(high[1]) if high else inf, "above" not in member.range


def wrong_values(member) -> Iterator[tuple[object, str]]:
    """Values of other types, beyond both ends of the range, and words that are none."""
    if member.flag:
        yield from ((1, "type"), ("true", "type"))
        return
    yield from ((True, "type"), ("", "no_value"))
    if member.type in NUMBERS:
        whole = member.type != "FLOAT"
        yield "x1", "type"
        yield from ((2.5, "type"),) if whole else ((nan, "type"), (inf, "type"))
        low, high, allowed = bounds(member)
        for bound, sign in ((low, -1), (high, 1)):
            if abs(bound) < 1e6:  # others are shown in fewer digits than they have
                beyond = int(bound) + sign if whole else nextafter(float(f"{bound:g}"), sign * inf)
                yield (beyond if allowed else int(bound) if whole else bound), "range"
    if member.choices:
        yield (7 if member.type in NUMBERS else "xyzzy"), "word"


def test_what_is_wrong_is_told_by_kind_and_name(qs):
    wrong = 0
    for command in qs.commands.TABLE.values():
        if command.needs_spinors:
            continue
        required = [name for name, member in command.members.items() if member.required]
        for name, member in command.members.items():
            near = f"{member.name}{member.name[-1]}"
            for argument, value, kind in [
                (near, 1, "unknown"),
                *((member.name, value, kind) for value, kind in wrong_values(member)),
            ]:
                with pytest.raises(qs.UsageError) as caught:
                    qs._quarksmith.run(command.word, {argument: value}, None)
                error = caught.value
                said = (command.word, argument, value, str(error))
                assert (error.kind, error.member, error.line) == (kind, argument, 0), said
                assert argument in str(error) and " --" not in str(error), said
                wrong += 1
            with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}_x'"):
                command.bind((), {**dict.fromkeys(required, 1), f"{name}_x": 1})
    assert wrong > 1000


def test_help_names_arguments_as_python_does(qs):
    for name in qs.commands.__all__:
        text = re.sub(r"`quarksmith [^`]*`", "", getattr(qs, name).__doc__)
        assert "--" not in text, name
