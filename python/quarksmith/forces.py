"""Terms of the action of molecular dynamics, one by one, and their forces against differences."""

import math
import os
from collections.abc import Mapping
from typing import Any

from ._quarksmith import GaugeField, Momenta, OpenMonomials, UsageError
from .calls import Report
from .given import checked

Run = Mapping[str, Any] | str | bytes | os.PathLike[str] | os.PathLike[bytes]


class Monomials:
    """The terms of the action of a run (docs/hmc-file.md): their values, and the forces that they exert.

    H = p.kinetic() + sum of the actions; with links u.moved(p, eps), momenta change by eps dP/dtau, which is `force`.
    """

    def __init__(self, run: Run, gauge: GaugeField) -> None:
        """Takes the run.

        Args:
            run: RUN.toml, as of `hmc`, or a dictionary of what it would say.
            gauge: links of its lattice; calls take others of that lattice, too.
        """
        self._open = OpenMonomials(checked({"run": run}, getattr(gauge, "lattice", None)), gauge)
        self.names: list[str] = self._open.names
        self.seed: int = self._open.seed

    def refresh(self, gauge: GaugeField, seed: int | None = None, trajectory: int = 0) -> None:
        """Draws the pseudofermions on these links, as that trajectory of `hmc` does; by default with its seed."""
        self._open.refresh(gauge, self.seed if seed is None else seed, trajectory)

    def actions(self, gauge: GaugeField) -> dict[str, float]:
        """The value of each on these links."""
        return dict(self._open.actions(gauge))

    def force(self, gauge: GaugeField, name: str = "") -> Momenta:
        """dP/dtau on these links: of the monomial of that name, or of all."""
        return self._open.force(gauge, name)

    def __repr__(self) -> str:
        return f"Monomials({', '.join(self.names)})"


def check_forces(run: Run, gauge: GaugeField, step: float = 0.003) -> Report:
    """Compares the force of each monomial with differences of its action along momenta.

    With dU/dtau = P U an action changes by dS/dtau = 2 sum tr P F where F = dP/dtau is its force (docs/hmc-actions.md).
    Differences are of sixth order. Momenta and pseudofermions are those of the first trajectory of the run.

    Args:
        run: RUN.toml, as of `hmc`, or a dictionary of what it would say.
        gauge: the links at which forces are taken; of the lattice of the run.
        step: of tau between links at which the action is taken.

    Returns:
        `monomials`: for each its `name`, `slope` (by differences), `force` (dS/dtau as the force says it) and
        `difference`, |slope - force| over 2 |P| |F|.
    """
    if not 0 < step < 1:
        raise UsageError("step: use a positive number below 1")
    monomials = Monomials(run, gauge)
    monomials.refresh(gauge)
    p = Momenta(gauge.lattice, monomials.seed, colours=gauge.colours)
    at = {n: monomials.actions(gauge.moved(p, n * step)) for n in (-3, -2, -1, 1, 2, 3)}
    found = []
    for name in monomials.names:
        f = monomials.force(gauge, name)
        weights = {1: 0.75, 2: -0.15, 3: 1 / 60}
        slope = sum(w * (at[n][name] - at[-n][name]) for n, w in weights.items()) / step
        force, size = -2 * p.dot(f), 2 * math.sqrt(p.kinetic() * f.kinetic())
        difference = abs(slope - force) / (size or 1)
        found.append({"name": name, "slope": slope, "force": force, "difference": difference})
    report = Report(monomials=found)
    report.text = "".join(
        f"{m['name']}: dS/dtau {m['slope']:.12g} by differences, {m['force']:.12g} by the force: "
        f"{m['difference']:.1e}\n"
        for m in found
    )
    return report
