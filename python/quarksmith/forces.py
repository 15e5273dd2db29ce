"""Forces of molecular dynamics against differences of their actions."""

import os

from . import _quarksmith
from ._quarksmith import GaugeField
from .calls import Report


def check_forces(run: str | bytes | os.PathLike[str], gauge: GaugeField, step: float = 0.003) -> Report:
    """Compares the force of each monomial with differences of its action along momenta.

    With dU/dtau = P U an action changes by dS/dtau = 2 sum tr P F where F = dP/dtau is its force (docs/hmc-actions.md).
    Differences are of sixth order. Momenta and pseudofermions are those of the first trajectory of the run.

    Args:
        run: RUN.toml, as of `hmc`.
        gauge: the links at which forces are taken; of the lattice of the run.
        step: of tau between links at which the action is taken.

    Returns:
        `monomials`: for each its `name`, `slope` (by differences), `force` (dS/dtau as the force says it) and
        `difference`, |slope - force| over 2 |P| |F|.
    """
    found = _quarksmith.check_forces(run, gauge, step)
    report = Report(monomials=found)
    report.text = "".join(
        f"{m['name']}: dS/dtau {m['slope']:.12g} by differences, {m['force']:.12g} by the force: "
        f"{m['difference']:.1e}\n"
        for m in found
    )
    return report
