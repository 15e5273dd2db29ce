"""Compares the fused Jacobi step with one kernel for each operation, from `quarksmith bench --json`."""

from __future__ import annotations

import argparse
import json
from math import prod
from pathlib import Path

PARTS = ("shift_forward", "multiply", "add", "multiply_adj", "shift_backward", "add")
"""What each of the three directions takes (examples/jacobi_unfused.py); the first needs no addition before."""


def main() -> None:
    """Prints time, GFLOP/s and GB/s of both forms for each link storage and number of colour vectors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="of `quarksmith bench --family expression --json FILE`")
    data = json.loads(parser.parse_args().results.read_text())
    sites = prod(data["lattice"])
    microseconds = {k["name"]: k["microseconds"] for k in data["kernels"]}
    for fused in (k for k in data["kernels"] if k["name"].startswith("jacobi_single")):
        _, precision, links, spins = fused["name"].split("_")
        time = {p: microseconds[f"{p}_{precision}_{links}_{spins}"] for p in ("multiply", "multiply_adj")}
        for p in ("shift_forward", "shift_backward", "add", "scale_add"):
            time[p] = microseconds[f"{p}_{precision}_{spins}"]
        unfused = 3 * sum(time[p] for p in PARTS) + time["scale_add"] - time["add"]
        gflops = fused["flop_per_site"] * sites * 1e-3
        print(
            f"{fused['name']}: fused {fused['microseconds']:.1f} us, {gflops / fused['microseconds']:.0f} GFLOP/s, "
            f"{fused['gbytes_per_second']:.0f} GB/s ({100 * fused['fraction_of_copy']:.0f} % of copy); "
            f"unfused {unfused:.1f} us, {gflops / unfused:.0f} GFLOP/s; {unfused / fused['microseconds']:.1f} times"
        )


if __name__ == "__main__":
    main()
