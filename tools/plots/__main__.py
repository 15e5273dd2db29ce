"""Pictures of what the commands write: tools/plots PLOT FILE... --out PICTURE.png."""

import importlib
import sys

import common

for module in ("batches", "correlators", "dispersion", "hmc", "overview", "roofline", "simple", "tuning"):
    importlib.import_module(module)

if __name__ == "__main__":
    sys.exit(common.main(__doc__))
