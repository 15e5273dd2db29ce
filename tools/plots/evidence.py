"""Evidence of sweeps, as the generator reads it: of it alone, so that other plots need no generator."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
from generator.profile import load_profile
from generator.tune.report import Evidence, Measured, evidence_files, read_evidence, sensitivity

__all__ = ["Evidence", "Measured", "evidence_files", "read", "sensitivity"]


def read(path: Path) -> Evidence:
    """Of a file of generated/tuned, or of the packed folder of a sweep."""
    return read_evidence(path, load_profile("full").kernels)
