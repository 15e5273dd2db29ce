"""Evaluates records with the formulas of their kernels, launch by launch as the runtime calls them, and backwards."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from lattice import Interpreter, exponential
from slopes import call
from statements import KERNELS, PHASES, Fields, values_of

from generator.algebra.gamma import DEGRAND_ROSSI
from generator.language.graph import Node
from generator.lower.hopping import same_hops
from generator.lower.numbers import Product
from generator.lower.program import Launch, product
from generator.lower.record import Lowered
from generator.operators.programs import back_name, force_name, is_loop, kernel_name
from generator.operators.quark_forces import force_paths, hop_numbers, weight_name


def spin(matrix: np.ndarray, psi: np.ndarray) -> np.ndarray:
    return np.einsum("ab,...bc->...ac", matrix, psi)


class Machine:
    """A record on fields of a lattice: those of the caller, and those that its launches make of them.

    Attributes:
        fields: by name.
        values: of the parameters.
    """

    def __init__(self, record: Lowered, fields: Mapping[str, np.ndarray], values: Mapping[str, complex] | None = None):
        self.record, self.kernels = record, KERNELS
        self.values = dict(values_of(record.action) if values is None else values)
        self.fields: Fields = {f.name: fields[f.name] for f in record.action.fields if f.origin != "made"}
        self.extent = next(iter(self.fields.values())).shape[:4]
        for launch in record.launches:
            self._launch(launch)

    def number(self, node: Node) -> complex:
        """A number of the statement."""
        return complex(Interpreter(self.extent, {}, self.values)(node))

    def sum(self, rows: tuple[Product, ...]) -> complex:
        """A sum of products of numbers."""
        return sum(c * np.prod([self.number(n) for n in numbers]) for c, numbers in rows)

    def zero(self) -> np.ndarray:
        return np.zeros((*self.extent, 4, 3, 3), complex)

    # --- fields that the statement makes

    def _call(self, name: str, launch: Launch, fields: Fields, **numbers: complex) -> Fields:
        """What a kernel of a launch gives."""
        of_core = {f"n{k + 1}": self.number(n) for k, n in enumerate(launch.numbers)}
        return call(self.kernels[name], fields, numbers | of_core, launch.directions, PHASES)

    def _operands(self, launch: Launch) -> Fields:
        return {f"m{k + 1}": self.fields[name] for k, name in enumerate(launch.operands)}

    def _weight(self, launch: Launch) -> complex:
        return self.number(product(launch.weight))

    def _launch(self, launch: Launch) -> None:
        targets = {"out": launch.field} | ({"kept": launch.kept} if launch.kept else {})
        before = {} if launch.first else {"before": self.fields[launch.field]}
        found = self._call(kernel_name(launch), launch, self._operands(launch) | before, weight=self._weight(launch))
        for output, target in targets.items():
            field = self.fields.setdefault(target, np.full_like(self.zero(), np.nan))
            for mu, matrix in found[output].items():
                field[:, :, :, :, mu] = matrix

    # --- M

    def matrix(self, psi: np.ndarray) -> np.ndarray:
        """M psi."""
        if self.record.form is None:
            return self._body(self.record.name, psi)
        hopped = psi if not self.record.form.has_slices else self._along_slices(psi, "b", "c")
        return self.hops(hopped) + self._site(psi)

    def dagger(self, psi: np.ndarray) -> np.ndarray:
        """M^+ psi of a general body."""
        return self._body(f"{self.record.name}_dagger", psi)

    @property
    def numbers(self) -> dict[str, complex]:
        """Of a body, by the names that its kernel has for them."""
        return {n: self.number(node) for n, node in self.record.numbers.items()}

    def _body(self, name: str, psi: np.ndarray) -> np.ndarray:
        (result,) = self.kernels[name].definition.results
        return Interpreter(self.extent, self.fields | {self.record.action.fermion: psi}, self.numbers, PHASES)(result)

    def hops(self, psi: np.ndarray, *, plain: bool = False) -> np.ndarray:
        """H D psi with all numbers, or D psi."""
        form = self.record.form
        total = np.zeros_like(psi)
        there = Interpreter(self.extent, {"psi": psi}, {}, PHASES)
        for h in form.stated:
            u = self.fields[self.record.links[h.length]][:, :, :, :, h.mu]
            steps = h.sign * h.length
            u = u if h.sign > 0 else np.roll(np.swapaxes(u, -1, -2).conj(), h.length, axis=h.mu)
            moved = np.einsum("xyztab,xyzt...b->xyzt...a", u, there.moved(psi, h.mu, steps))
            sign = (-1.0) ** sum((np.indices(self.extent)[nu] for nu in h.phase), np.zeros(self.extent))
            number = 1 if plain else form.factor * self.sum(form.weight(h.mu, h.sign))
            matrix = number * form.spin_matrix(DEGRAND_ROSSI, h.mu, h.sign, h.length)
            total += sign[..., None, None, None, None] * (
                spin(matrix, moved) if psi.shape[6] > 1 else matrix[0, 0] * moved
            )
        return total

    def _along_slices(self, psi: np.ndarray, plain: str, moved: str) -> np.ndarray:
        """(b + c R) psi."""
        form, numbers = self.record.form, self.record.slice_numbers
        around = np.zeros_like(psi)
        for step in (1, -1):
            other = np.roll(psi, -step, axis=4)
            other[..., -1 if step > 0 else 0, :, :, :] *= self.sum(numbers["wall"])
            around += spin(form.step_matrix(step, DEGRAND_ROSSI), other)
        return self.sum(numbers[plain]) * psi + self.sum(numbers[moved]) * around

    def _site(self, psi: np.ndarray) -> np.ndarray:
        site = self.record.site
        if self.record.form.has_slices:
            return self._along_slices(psi, "alpha", "beta")
        constant = site.matrix(self.values).reshape(2, 4, 2, 4)[: psi.shape[5], :, : psi.shape[5], :]
        if psi.shape[6] == 1:
            return constant[0, 0, 0, 0] * psi
        total = np.einsum("fsgr,...grc->...fsc", constant, psi)
        if not site.stored:
            return total
        term = self._blocks()
        if site.exponential is not None:
            term = self.sum((site.exponential,)) * exponential(term)
        return total + np.einsum("xyztij,xyztmfj->xyztmfi", term, psi.reshape(*psi.shape[:6], 12)).reshape(psi.shape)

    def _blocks(self) -> np.ndarray:
        """The part of the site term that is made of fields, 12 x 12."""
        total = np.zeros((*self.extent, 12, 12), complex)
        for block, (name, mu) in self.record.stored:
            colour = self.fields[name][:, :, :, :, mu]
            total += np.real(self.sum((block.number,))) * np.einsum("st,...ab->...satb", block.spin, colour).reshape(
                total.shape
            )
        return total

    # --- forces: dP/dtau of S = -2 Re chi^+ M psi, as solvers/hmc/fermion_force.cpp and solvers/links/link_force.cpp go

    def force(self, psi: np.ndarray, chi: np.ndarray) -> np.ndarray:
        """On the links of the configuration."""
        by: Fields = {}
        p = self.zero()
        if self.record.form is not None:
            hopped = psi if not self.record.form.has_slices else self._along_slices(psi, "b", "c")
            p = self._force_of_hops(hopped, chi, by, p)
            self._force_of_site(psi, chi, by)
        elif force_paths(self.record) is not None:
            p = self._along_paths(psi, chi, p)
        elif f"force_{self.record.name}" in self.kernels:
            p = self._force_of_body(psi, chi, by, p)
        return self.back(by, p)

    def _force_of_hops(self, psi: np.ndarray, chi: np.ndarray, by: Fields, p: np.ndarray) -> np.ndarray:
        form, links = self.record.form, self.record.links
        if links[form.lengths[0]] not in self.record.moving:
            return p
        hopping = (o for o in self.kernels.values() if o.family == "hopping" and not o.hops_of)
        owner = next(o.name for o in hopping if same_hops(o.form, form))
        ways = {weight_name(mu, sign): (mu, sign) for sign in (1, -1) for mu in form.directions}
        numbers = {n: np.real(form.factor * self.sum(form.weight(*ways[n]))) for n in hop_numbers(form)}
        spinors = {"psi": psi, "chi": chi}
        if len(form.lengths) == 1 and all(map(self.record.turns_in_su3, links.values())):
            (name,) = links.values()
            given = {"u": self.fields[name], "p": p if name == self.record.gauge else self.zero()}
            moved = self._whole(call(self.kernels[f"force_{owner}"], given | spinors, numbers, (), PHASES)["out"])
            if name == self.record.gauge:
                return moved
            turned = call(self.kernels["derivative_of_force"], {"v": self.fields[name], "z": moved}, {}, (), PHASES)
            by[name] = self._whole(turned["out"])
            return p
        names = dict(zip(("u", "long"), (links[n] for n in form.lengths), strict=False))
        given = {f"by_{k}": self.zero() for k in names}
        found = call(self.kernels[f"derivative_{owner}"], given | spinors, numbers, (), PHASES)
        for k, name in names.items():
            by[name] = by.get(name, self.zero()) + self._whole(found[f"{k}_out"])
        return p

    def _whole(self, matrices: dict[int, np.ndarray]) -> np.ndarray:
        field = self.zero()
        for mu, m in matrices.items():
            field[:, :, :, :, mu] = m
        return field

    def _force_of_site(self, psi: np.ndarray, chi: np.ndarray, by: Fields) -> None:
        """Half the derivatives by the matrices of blocks: traces over spins of that by T."""
        if not self.record.stored:
            return
        flat = lambda v: v.reshape(*v.shape[:6], 12)  # noqa: E731
        x = -np.einsum("xyztmfi,xyztmfj->xyztij", flat(psi), flat(chi).conj())
        if self.record.site.exponential is not None:
            a = self._blocks()
            corner = np.block([[a, x], [np.zeros_like(a), a]])
            x = self.sum((self.record.site.exponential,)) * exponential(corner)[..., :12, 12:]
        x = x.reshape(*self.extent, 4, 3, 4, 3)
        for block, (name, mu) in self.record.stored:
            number = np.real(self.sum((block.number,)))
            traced = number * np.einsum("st,...tasb->...ab", block.spin, x)
            by.setdefault(name, self.zero())[:, :, :, :, mu] += (traced + np.swapaxes(traced, -1, -2).conj()) / 2

    def _force_of_body(self, psi: np.ndarray, chi: np.ndarray, by: Fields, p: np.ndarray) -> np.ndarray:
        record, free = self.record, self.record.free_name
        numbers = self.numbers | {free("weight"): 1.0}
        given = self.fields | {record.action.fermion: psi, free("chi"): chi, free("p"): p}
        given |= {free(f"by_{name}"): self.zero() for name in record.read}
        found = call(self.kernels[f"force_{record.name}"], given, numbers, (), PHASES)
        fields = {free("out"): "", **{free(f"{name}_out"): name for name in record.read}}
        for output, matrices in found.items():
            if fields[output]:
                by[fields[output]] = self._whole(matrices)
            else:
                p = self._whole(matrices)
        return p

    def _along_paths(self, psi: np.ndarray, chi: np.ndarray, p: np.ndarray) -> np.ndarray:
        """As solvers/hmc/path_force.cpp goes."""
        paths, u = force_paths(self.record), self.fields[self.record.gauge]
        one = lambda name, mu, fields, **n: call(self.kernels[name], fields, n, (mu,), PHASES)["out"]  # noqa: E731

        def carried(start: np.ndarray, to: np.ndarray, step: int) -> np.ndarray:
            kernel = "path_ahead" if step > 0 else "path_behind"
            return one(kernel, abs(step) - 1, {"u": u, "psi": start, "before": to})

        self.beyond = []
        for numbers in paths.ends:
            given = dict(zip(("one", "x", "y", "z", "t"), numbers, strict=True))
            self.beyond.append(one("path_end", 0, {"psi": psi, "before": 0 * psi}, **given))
        for s in reversed(paths.steps):
            self.beyond[s.start] = carried(self.beyond[s.to], self.beyond[s.start], s.step)
        reached = {0: chi}
        for s in paths.steps:
            ends = (self.beyond[s.to], reached[s.start])
            after, before = ends if s.step > 0 else reversed(ends)
            mu = abs(s.step) - 1
            p[:, :, :, :, mu] = one("force_path", mu, {"u": u, "psi": after, "chi": before, "p": p}, weight=1.0)[mu]
            reached[s.to] = carried(reached[s.start], reached.get(s.to, 0 * chi), -s.step)
        return p

    def back(self, by: Fields, p: np.ndarray) -> np.ndarray:
        """From half the derivatives by fields of the record to the force by those of a configuration."""
        record = self.record
        for launch in reversed(record.launches):
            if not record.moving & set(launch.operands):
                continue
            g = self._weight(launch) * by.get(launch.field, self.zero())
            if launch.kept:
                g = g + by.get(launch.kept, 0)
            if is_loop(launch, record.gauge):
                given = {"u": self.fields[record.gauge], "source": g, "p": p}
                for mu, m in self._call(force_name(launch), launch, given, weight=1.0)["out"].items():
                    p[:, :, :, :, mu] = m
                continue
            names = [f"m{k + 1}" for k, kind in enumerate(launch.core.operands) if kind == "matrices"]
            given = self._operands(launch) | {"g": g} | {f"by_{m}": self.zero() for m in names}
            found = self._call(back_name(launch), launch, given, **{f"weight_{m}": 1.0 for m in names})
            for m in names:
                name = launch.operands[int(m[1:]) - 1]
                total = by.setdefault(name, self.zero())
                for mu, matrix in found[f"by_{m}_out"].items():
                    total[:, :, :, :, mu] += matrix
        if record.gauge in by:
            given = {"u": self.fields[record.gauge], "g": by[record.gauge], "p": p}
            p = self._whole(call(self.kernels["force_link"], given, {}, (), PHASES)["out"])
        return p
