"""The package of the build folder, imported here."""

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
BUILD = ROOT / os.environ.get("QUARKSMITH_BUILD", "build")
PACKAGE = BUILD / "python"
os.environ.setdefault("QUARKSMITH_ON_DEMAND", "off")  # a test that lacks a kernel is to fail
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
WHY = "the Python package is not built: nanobind 3.1 or the headers of Python are missing (`make setup` fetches them)"


@pytest.fixture(scope="session")
def package() -> Path:
    """The folder that holds it."""
    if not any((PACKAGE / "quarksmith").glob("_quarksmith*.so")):
        pytest.skip(WHY)
    return PACKAGE


@pytest.fixture(scope="session")
def qs(package: Path) -> ModuleType:
    """The package."""
    sys.path.insert(0, str(package))
    import quarksmith

    return quarksmith
