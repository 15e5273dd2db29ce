#!/usr/bin/env python3
"""Counts tests over several runs: STATUS:FILE each, FILE in the XML of JUnit, which GoogleTest and pytest write.

The last line is `tests: N passed, N failed, N skipped`; the lines above it say what the skipped ones want. A run that
failed counts at least one failure, whatever its file holds: programs crash, and ranks other than the first fail.
"""

import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path


def count(status: int, path: Path) -> tuple[Counter[str], Counter[str]]:
    """Tests of one run by their end, and reasons of those skipped."""
    ends: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    try:
        cases = list(ElementTree.parse(path).iter("testcase")) if path.suffix == ".xml" else []
    except (OSError, ElementTree.ParseError):
        cases, status = [], status or 1
    if path.suffix != ".xml" and status == 0:
        ends["passed"] += 1  # a program that counts its checks itself
    for case in cases:
        left = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            ends["failed"] += 1
        elif left is not None:
            ends["skipped"] += 1
            # GoogleTest writes the place on a line of its own above the reason.
            reasons[(left.get("message") or "no reason given").strip().splitlines()[-1]] += 1
        elif case.get("status") != "notrun":
            ends["passed"] += 1
    if status != 0 and not ends["failed"]:
        ends["failed"] += 1
    return ends, reasons


def main(runs: list[str]) -> int:
    """Prints the sum; returns 1 if anything failed."""
    ends: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for run in runs:
        status, _, path = run.partition(":")
        for total, part in zip((ends, reasons), count(int(status), Path(path)), strict=True):
            total.update(part)
    for reason, times in reasons.most_common():
        print(f"skipped {times}: {reason}")
    print(f"tests: {ends['passed']} passed, {ends['failed']} failed, {ends['skipped']} skipped")
    return int(ends["failed"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
