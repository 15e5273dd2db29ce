"""An expression as an operator of the generator: the record that list, cost, generate, sweep, bench and tests know."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from ..algebra.gamma import Basis
from ..algebra.su3 import algebra_storage
from ..cost import Cost
from ..cpp.call import FIELD_POOL, NUMBER_POOL, VALUES, body_types, number_of_call, typed_call
from ..cpp.expressions import statements_of
from ..cpp.names import cpp_direction
from ..cpp.text import VIEWS, Statements
from ..errors import ExpressionError, SpecError
from ..folders import ROOT
from ..language.formula import Definition, Formula, statements_of_formula
from ..language.graph import NAMES
from ..language.symbols import PROPAGATORS, SPINORS, directions
from ..language.walks import parts
from ..lower.program import CALLED, renamed
from ..lower.propagators import elements_of
from ..lower.reach import reach_of, read_apart, sums_first
from ..lower.size import are_inlined, many_spinors
from ..lower.values import Lowering, Value, flops
from ..spec import KernelSpec, Operator
from .schedule import Schedule

_BITS = {"direction": 2, "gamma": 4}
"""Bits of Arguments::direction for each direction or gamma matrix that is an argument of the call."""
_LONG_FUNCTIONS = ("exp_adjoint", "project_adjoint", "project_u3", "project_u3_adjoint")


@dataclass(frozen=True, eq=False)
class Expression(Operator):
    """A function over lattice fields, as a kernel.

    Attributes:
        stated: what was written, and its name.
        schedule: the order of its statements.
        flavours: spinors of a site that belong together: consecutive right-hand sides.
        in_place: inputs by outputs that callers take from the same field; they share its place if there are too few.
    """

    stated: Formula
    schedule: Schedule = Schedule()
    flavours: int = 1
    in_place: tuple[tuple[str, str], ...] = ()

    family = "expression"
    parities = 2
    template = "expression.hpp.j2"

    @property
    def name(self) -> str:
        """Name of the operator, from which those of its kernels are made."""
        return self.stated.name

    @property
    def group(self) -> str:
        """Kernels of one group and precision share a translation unit."""
        return self.stated.group or self.name

    @property
    def definition(self) -> Definition:
        """The result of the function, called with symbols.

        Raises:
            ExpressionError: at the line of the user that is wrong.
        """
        return self.stated.definition

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Kind of each field and number, outputs last."""
        return dict((*self.definition.inputs, *self.definition.outputs))

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """Axes of the record that apply."""
        kinds = set(self.kinds.values())
        turns = any(v.op == "spin" for v in self._values)
        found = {
            "links": "links" in kinds,
            "basis": turns,
            "spins": bool(kinds & {*SPINORS, *PROPAGATORS}) and not turns,
        }
        return ("precision", *(axis for axis, there in found.items() if there))

    @cached_property
    def operands(self) -> dict[str, str]:
        """Where each field and number stands in the arguments of a kernel.

        Raises:
            ExpressionError: there are more than a kernel can take.
        """
        found: dict[str, str] = {}
        free, numbers = list(FIELD_POOL), list(NUMBER_POOL)
        preferred = {"links": "links", "spinor": "in", "fermion": "in"}
        outputs = {n for n, _ in self.definition.outputs}
        many = sum(kind not in VALUES for kind in self.kinds.values()) > len(free)
        shares = {o: i for o, i in self.in_place if many and i not in self.apart}
        if self.sums:
            free.remove("out")  # where the kernel writes what each site adds to the sums
        before = {n: [k for _, k in self.definition.inputs[:i]] for i, (n, _) in enumerate(self.definition.inputs)}
        halves = [f"{n}.{part}" for group in (numbers[:3], numbers[3:]) for part in ("re", "im") for n in group]
        for name, kind in sorted(self.kinds.items(), key=lambda item: item[1] != "complex"):
            if kind in _BITS:
                found[name] = str(sum(_BITS.get(k, 0) for k in before[name]) // 2)
                continue
            if kind in VALUES:
                pool = numbers if kind == "complex" else [h for h in halves if h.partition(".")[0] in numbers]
                if not pool:
                    most = len(NUMBER_POOL)
                    raise ExpressionError(
                        f"{self.definition.place}: {self.name} has more numbers than {most} complex ones; combine some"
                    )
                found[name] = pool.pop(0)
                halves = [h for h in halves if h != found[name] and h.partition(".")[0] != found[name]]
                continue
            if name in shares and found.setdefault(name, found[shares[name]]):
                continue
            wanted = "out" if name in outputs else preferred.get(kind, "")
            if not free:
                too_many = f"has more than {len(FIELD_POOL) - bool(self.sums)} fields; split it"
                raise ExpressionError(f"{self.definition.place}: {self.name} {too_many}")
            found[name] = wanted if wanted in free else free[0]
            free.remove(found[name])
        return {name: found[name] for name in self.kinds}

    @cached_property
    def blocks(self) -> tuple[tuple[str, tuple[tuple[str, int, Value], ...]], ...]:
        """Values that are computed together: (title, (output or empty, direction or number of the sum, value)...)."""
        lowering = Lowering(frozenset(n for n, kind in self.definition.inputs if kind == "links"), self.flavours)
        added = tuple(("", n, lowering.lower(s)) for n, s in zip(self._first_sums, self.definition.sums, strict=True))
        written = self._written(lowering)
        # A field that is read may be one that is written.
        last = (("", added),) if added else ()
        return (*last, *written) if sums_first([r for _, r in written], added) else (*written, *last)

    def _written(self, lowering: Lowering) -> tuple[tuple[str, tuple[tuple[str, int, Value], ...]], ...]:
        made = list(zip(self.definition.outputs, self.definition.results, strict=True))
        blocks: list[tuple[str, tuple[tuple[str, int, Value], ...]]] = []
        for (o, kind), r in made:
            if kind in PROPAGATORS:
                blocks.append(("", tuple((o, n, lowering.lower(e)) for n, e in elements_of(r))))
        of_spinors = [(o, r) for (o, kind), r in made if kind in SPINORS]
        spinors = [(o, f, lowering.lower(r, flavour=f)) for o, r in of_spinors for f in range(self.flavours)]
        if spinors:
            blocks.append(("", tuple(spinors)))
        matrices = [(o, r) for (o, _), r in made if isinstance(r, dict)]
        if self.schedule.together:
            return (("", tuple((o, d.index, lowering.lower(v)) for o, r in matrices for d, v in r.items())),)
        for mu in sorted({d.index for _, r in matrices for d in r}):
            of = [(o, mu, lowering.lower(v)) for o, r in matrices for d, v in r.items() if d.index == mu]
            blocks.append((f"direction {NAMES[mu]}", tuple(of)))
        return tuple(blocks)

    @cached_property
    def apart(self) -> frozenset[str]:
        """Fields read where another block or site writes: no output may be one of these."""
        return read_apart([results for _, results in self.blocks])

    @property
    def min_blocks(self) -> int:
        """Blocks of threads that registers are to suffice for: one where matrices of propagators fill them."""
        return self.schedule.min_blocks or int(bool(PROPAGATORS.keys() & set(self.kinds.values())))

    @cached_property
    def sparing(self) -> bool:
        """Whether terms of sums load anew what they need: on a GPU registers are short of matrices by far."""
        if self.schedule.sparing is not None:
            return self.schedule.sparing
        roots = [[v for *_, v in results] for _, results in self.blocks]
        return any(many_spinors(r) or not are_inlined(r) for r in roots)

    @cached_property
    def summed(self) -> frozenset[str]:
        """Spinors over whose right-hand sides the kernel adds up.

        Raises:
            ExpressionError: some are read one right-hand side at a time too.
        """
        roots = [v for _, results in self.blocks for *_, v in results]
        sums = [v for v in parts(roots) if v.op == "summed"]
        found = frozenset(v.data[0] for v in parts(sums) if v.op == "load" and v.kind == "spinor")
        if found and found != {n for n, kind in self.kinds.items() if kind in SPINORS}:
            raise ExpressionError(f"{self.definition.place}: {self.name}: all spinors stand in summed(...), or none")
        return found

    @cached_property
    def read_from(self) -> dict[str, str]:
        """How far fields are read from where something is written or added up, of those that are read elsewhere.

        Sites backward and forward along x, y, z, t, and `corners` if some steps are along several directions.
        """
        return reach_of(r for _, results in self.blocks for *_, r in results)

    @property
    def at_home(self) -> frozenset[str]:
        """Fields that hold no border where others do: they are read and written at the site itself alone."""
        return frozenset(
            n for n, k in self.kinds.items() if self.read_from and k not in VALUES and n not in self.read_from
        )

    @cached_property
    def formula(self) -> str:
        """The formula as written, statement by statement: read by the tests, which evaluate it on the host."""
        return statements_of_formula(self.definition)

    @cached_property
    def names_colours(self) -> bool:
        """Whether its text does: units, and spinors of fewer spins."""
        return any(v.op in ("identity", "spin") for v in self._values)

    @property
    def of_three_colours(self) -> str:
        """Derivatives of projections follow from the invariants of 3x3 matrices."""
        return "derivatives of projections" if re.search(r"project(_u3)?_adjoint\(", self.formula) else ""

    def more_storages(self, spec: KernelSpec) -> Sequence[str]:
        """The storage of momenta."""
        return (algebra_storage(spec.colours).name,) if "algebra" in self.kinds.values() else ()

    @property
    def headers(self) -> Sequence[str]:
        """Lattice directions and signs; derivatives of functions of matrices."""
        more = ("su3_adjoint",) if "_adjoint(" in self.formula else ()
        has_complex_sums = self.sums > len(self.definition.sums)
        more = (*more, *(("propagator",) if has_complex_sums or PROPAGATORS.keys() & set(self.kinds.values()) else ()))
        return ("expression_site", *more, *(("site_values",) if self.sums else ()))

    @property
    def sums(self) -> int:
        """Real numbers that the kernel adds up."""
        return sum(1 + (s.op == "totals") for s in self.definition.sums)

    @property
    def _first_sums(self) -> list[int]:
        """The number of the first sum of each result."""
        sizes = [1 + (s.op == "totals") for s in self.definition.sums]
        return [sum(sizes[:n]) for n in range(len(sizes))]

    @property
    def own_sums(self) -> str:
        """The host adds up what sites give, in a way that does not depend on how a lattice is spread."""
        return "SiteValues" if self.sums else ""

    @property
    def signature(self) -> str:
        """`name:kind:operand:flag` of all fields and numbers in the order of a call, then `:reach` if there is one.

        Flags: `out` for an output, `some` for one that is not written in all directions, `apart` for an input that no
        output may be, `each` for a spinor over whose right-hand sides the kernel adds up, else `here`.
        """
        outputs = {n for n, _ in self.definition.outputs}
        flag = {n: "out" if n in outputs else "apart" if n in self.apart else "here" for n in self.kinds}
        flag |= {
            n: "some"
            for (n, _), r in zip(self.definition.outputs, self.definition.results, strict=True)
            if isinstance(r, dict) and "direction" not in self.kinds.values() and len(r) < len(directions)
        }
        flag |= dict.fromkeys(self.summed, "each")
        flag |= {n: "each" for n, kind in self.kinds.items() if kind in PROPAGATORS and n not in outputs}
        ends = {n: f":{reach}" for n, reach in self.read_from.items()}
        several = f"*{self.flavours}" if self.flavours > 1 else ""
        return " ".join(
            f"{n}:{kind}{several if kind in SPINORS else ''}:{self.operands[n]}:{flag[n]}{ends.get(n, '')}"
            for n, kind in self.kinds.items()
        )

    @cached_property
    def _values(self) -> list[Value]:
        """All values of the expression, block by block."""
        return [v for _, results in self.blocks for v in parts(r for *_, r in results)]

    def cost(self, spec: KernelSpec) -> Cost:
        """Arithmetic of what is emitted; each component of a field read and written once."""
        spins = spec.spins or 4
        values, count = self._values, _flops(self, spins, spec.basis, spec.colours)
        loads = [(v.data[0], v.data[1]) for v in values if v.op == "load"]
        written = [(name, n) for _, results in self.blocks for name, n, _ in results if name]
        moved = [*dict.fromkeys(loads), *written]

        def size(name: str) -> float:
            if self.kinds[name] in SPINORS:
                return spec.format.spinor_bytes(spins, spec.colours)
            if self.kinds[name] in PROPAGATORS:  # the columns of one spin, a spin of each
                return spec.colours * spec.format.spinor_bytes(1, spec.colours)
            return spec.format.links.link_bytes(spec.reals_of(self.kinds[name]))

        total = sum(size(name) for name, *_ in moved)
        return Cost(count, count, total, sum(spec.reals_of(self.kinds[name]) for name, *_ in [*loads, *written]))

    def arguments(self, spec: KernelSpec) -> list[str]:
        """C++ template arguments of a row.

        Raises:
            SpecError: the record lacks spins, or asks for a format that cannot hold the fields.
        """
        if spec.format.bits < 32 and {"matrices", "algebra", "scalars", "phases"} & set(self.kinds.values()):
            raise SpecError(
                f"{self.name} keeps matrices or numbers of any size; use double or single, not {spec.precision}"
            )
        if "spins" in self.axes and not spec.spins:
            raise SpecError(f"{self.name} works on spinors of any kind; its row needs spins = [4] or [1]")
        for kind in PROPAGATORS.keys() & set(self.kinds.values()):
            if (spec.precision, spec.spins, spec.colours) != ("double", PROPAGATORS[kind], 3):
                raise SpecError(
                    f'{self.name} contracts propagators; its row needs precision = ["double"], '
                    f"spins = [{PROPAGATORS[kind]}] and three colours"
                )
        if spec.links and spec.storage.temporal:
            raise SpecError(f"{self.name} reads links of any gauge; use 18, 12 or 8 reals")
        return [
            spec.spinor_codec if spec.spins or spec.basis else spec.in_colours(spec.format.links.link_codec),
            spec.in_colours(spec.format.links.link_codec),
            spec.links.upper() or "R18",
            str(spec.spins or 4),
        ]

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Data for the template."""
        place = self.definition.place
        file = Path(place.file)
        shown = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file.name
        numbers = [number_of_call(n, k, self.operands[n]) for n, k in self.kinds.items() if k in VALUES]
        blocks = self._rolled(spec) or [self._block(*block, spec) for block in self.blocks]
        code = "\n".join([*numbers, *(line for block in blocks for line in block["lines"])])
        return {
            "formula": self.formula,
            "statements": statements_of(self.formula),
            "source": f"{shown}, line {place.line}",
            "types": [(n, t) for n, t in body_types(self.schedule.two_rows) if re.search(rf"\b{n}\b", code)],
            "has_border": bool(self.read_from),
            "numbers": numbers,
            "blocks": blocks,
            "sums": self.sums,
        }

    def _rolled(self, spec: KernelSpec) -> list[dict[str, Any]]:
        """A loop where all directions have the same long functions: four times their text does not stay in a cache."""
        if self.sums or not any(v.op in _LONG_FUNCTIONS for v in self._values):
            return []
        (mu, *_), lowering = CALLED, Lowering()
        results = self.definition.results
        if any(not isinstance(r, dict) or set(r) != set(directions) for r in results):
            return []
        each = [[renamed(r[d], {d: mu}) for r in results] for d in directions]
        if len({tuple(map(str, nodes)) for nodes in each}) > 1:
            return []
        outputs = [name for name, _ in self.definition.outputs]
        stores = [(o, mu.index, lowering.lower(node)) for o, node in zip(outputs, each[0], strict=True)]
        lines = self._block("", stores, spec)["lines"]
        head = ["QUARKSMITH_ROLLED", f"for (int {mu.name} = 0; {mu.name} < directions; ++{mu.name}) {{"]
        return [{"title": "", "lines": [*head, *(f"  {line}" for line in lines), "}"]}]

    def _block(self, title: str, results: Sequence[tuple[str, int, Value]], spec: KernelSpec) -> dict[str, Any]:
        roots = [v for *_, v in results]
        everything = [v for _, all_results in self.blocks for *_, v in all_results]
        statements = Statements(
            *(self.operands, self.kinds, roots, are_inlined(everything), spec.basis),
            *(self.sparing, self.schedule.kept, self.flavours),
            colours=spec.colours,
            at_home=self.at_home,
            transports_inlined=are_inlined(everything, "spinor"),
        )
        if not any(name for name, *_ in results):
            statements.add_up([(n, v) for _, n, v in results])
            return {"title": title, "lines": statements.lines}
        stores = []
        if self.schedule.together:
            statements.gather(roots)
        for name, number, value in results:
            code, site = statements.value(value), statements.site_of(name)
            if self.kinds[name] in SPINORS:
                rhs = statements.right_hand_side(number)
                stores.append(f"store_spinor<Spinors>(a.{self.operands[name]}, {site}, {rhs}, {code});")
            elif self.kinds[name] in PROPAGATORS:
                ends = f"{number // 4}, {number % 4}"
                statements.lines.append(f"store_element<Spinors>(a.{self.operands[name]}, {site}, {ends}, {code});")
            else:
                where = f"a.{self.operands[name]}, {site}.place, {site}.parity, {cpp_direction(number)}"
                stores.append(f"{VIEWS[self.kinds[name]]}::store({where}, {code});")
        return {"title": title, "lines": [*statements.lines, *stores]}

    def call(self) -> dict[str, Any]:
        """Data of the typed C++ call."""
        has_settings = "fermion" in self.kinds.values() or "basis" in self.axes
        return typed_call(self.name, self.definition, sums=bool(self.sums), has_settings=has_settings)


@cache
def _flops(operator: Expression, spins: int, basis: Basis | None, colours: int) -> int:
    return sum(flops(v, spins, basis, colours) for v in operator._values) + operator.sums
