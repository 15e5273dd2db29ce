"""Formulas of a cell or a script: kernels and actions, compiled when they are first used."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import index
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar

from . import _quarksmith, commands
from ._quarksmith import GaugeField, Momenta, Spinors
from .calls import Report, log
from .compiler import build, may_compile, wrong_use
from .forces import check_forces
from .given import require_one_lattice

if TYPE_CHECKING:
    from .generator.language.action import Action
    from .generator.lower.record import Lowered
    from .generator.operators.expression import Expression
    from .generator.spec import KernelSpec

_SPINORS = ("spinor", "fermion", "propagator", "staggered_propagator")
_FIELDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(_SPINORS, (Spinors,)),
    **dict.fromkeys(("links", "matrices", "scalars", "phases"), (GaugeField,)),
    "algebra": (Momenta,),
}
"""What fields of a formula are in Python."""


class CellExpression:
    """A function over lattice fields as a kernel; made by the decorator `expression`.

    Called with fields and numbers it evaluates its formula at all sites, and returns what it writes: new fields, or
    those of `out`; then sums as numbers, of several right-hand sides as arrays. Fields are in double precision.
    """

    def __init__(self, function: Callable[..., Any], name: str = "") -> None:
        from .generator.language.formula import named
        from .generator.operators import add_expression

        self.__doc__ = function.__doc__
        self.__name__ = name or function.__name__
        self._modules: dict[int, KernelSpec] = {}
        with wrong_use(self.__name__):
            self._expression: Expression = add_expression(named(function, self.__name__))
            self._inputs: tuple[tuple[str, str], ...] = self._expression.definition.inputs
            self._outputs: tuple[tuple[str, str], ...] = self._expression.definition.outputs
        if taken := {n for n, _ in self._inputs} & {"self", "out", "boundary", "momenta"}:
            place = self._expression.definition.place
            raise _quarksmith.UsageError(f"{place}: {min(taken)} means something else in calls; rename the parameter")

    @property
    def formula(self) -> str:
        """What it computes, as written, statement by statement."""
        with wrong_use(self.__name__):
            return str(self._expression.formula)

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}: {kind}" for name, kind in self._inputs)
        return f"{self.__name__}({arguments})\n{self.formula}"

    def __call__(self, *arguments: Any, out: Any = None, boundary: Any = "", **named: Any) -> Any:
        """Evaluates it.

        Args:
            arguments: fields and numbers in the order of the function, or by name.
            out: the field to write, or a tuple of fields; new ones are made otherwise.
            boundary: phases of fermions, as of `solve`.
            named: arguments by name.

        Raises:
            UsageError: an argument is missing, or of another kind, lattice or size.
        """
        values = self._bind(arguments, named)
        outputs = self._make_outputs(values) if out is None else [*out] if isinstance(out, tuple) else [out]
        if len(outputs) != len(self._outputs):
            raise _quarksmith.UsageError(f"{self.__name__} writes {len(self._outputs)} fields, out has {len(outputs)}")
        for (_, kind), field in zip(self._outputs, outputs, strict=True):
            self._check("out", kind, field)
        sums = self._totals(_quarksmith.evaluate(*self._call(values, outputs, boundary)))
        results = (*outputs, *sums)
        return results[0] if len(results) == 1 else results

    def by_time(
        self, *arguments: Any, momenta: Sequence[Sequence[int]] | None = None, boundary: Any = "", **named: Any
    ) -> Any:
        """Its complex sums over space at each time, times exp(i p.x), p_i = 2 pi n_i / L_i.

        Args:
            arguments: as of a call.
            momenta: the integers n of each; by default there is no phase.
            boundary: phases of fermions, as of `solve`.
            named: arguments by name.

        Returns:
            an array [right-hand side, momentum, sum, t], without axes of one right-hand side or sum, and with one of
            momenta if these were given.
        """
        import numpy as np

        sums = self._expression.definition.sums
        if not sums or self._outputs or any(s.op != "totals" for s in sums):
            raise _quarksmith.UsageError(f"{self.__name__} does not give complex sums alone, which times have")
        values = self._bind(arguments, named)
        chosen = [(0, 0, 0)] if momenta is None else _whole_momenta(momenta)
        call = (*self._call(values, [], boundary), chosen)
        found = np.array(_quarksmith.evaluate_by_time(*call))
        times = next(v for v in values if hasattr(v, "lattice")).lattice.extent[3]
        found = found.reshape(-1, times, len(chosen), len(sums)).transpose(0, 2, 3, 1)
        kept = [n for axis, n in enumerate(found.shape[:3]) if n > 1 or (axis == 1 and momenta is not None)]
        return found.reshape(*kept, times)

    def source(self, *, spins: int = 4) -> str:
        """The body of its kernel, as generated.

        Args:
            spins: 4, or 1 for spinor fields of staggered quarks.
        """
        from .generator.emit.render import render_files

        spec = self._spec(spins)
        with wrong_use(self.__name__):
            files = render_files([spec], f"the cell of {self.__name__}")
        return str(files[PurePosixPath(f"bodies/{spec.body}.hpp")])

    def bench(self, *arguments: Any, boundary: Any = "", **named: Any) -> Report:
        """Time, cost and roofline of a call with these arguments, as the command `bench` has them."""
        values = self._bind(arguments, named)
        outputs = self._make_outputs(values)
        seconds, sites, bounds, text = _quarksmith.time_expression(*self._call(values, outputs, boundary))
        spec = self._spec(self._spins(values))
        cost = spec.operator.cost(spec)
        copy = json.loads(bounds)["copy_bytes_per_second"]
        report = Report(
            kernel=spec.name,
            seconds=seconds,
            flop_per_site=cost.flops,
            bytes_per_site=cost.bytes,
            gflops=cost.flops * sites / seconds * 1e-9,
            gbytes_per_second=cost.bytes * sites / seconds * 1e-9,
            fraction_of_copy=cost.bytes * sites / seconds / copy,
            **json.loads(bounds),
        )
        report.text = (
            f"{spec.name}: {seconds * 1e6:.1f} us, {report['gflops']:.1f} GFLOP/s, "
            f"{report['gbytes_per_second']:.1f} GB/s, {100 * report['fraction_of_copy']:.0f} % of a copy\n"
            f"{cost.flops} flop and {cost.bytes:g} bytes a site; {text}\n"
        )
        return report

    def _bind(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> list[Any]:
        names = [name for name, _ in self._inputs]
        given = dict(zip(names, arguments, strict=False))
        twice = given.keys() & named.keys()
        unknown = named.keys() - set(names)
        missing = [name for name in names if name not in given and name not in named]
        if len(arguments) > len(names) or twice or unknown or missing:
            what = f"lacks {', '.join(missing)}" if missing else f"got {', '.join(twice | unknown) or 'too many'}"
            raise _quarksmith.UsageError(f"{self.__name__} takes {', '.join(names)}; the call {what}")
        values = [(given | dict(named))[name] for name in names]
        return [self._check(name, kind, v) for (name, kind), v in zip(self._inputs, values, strict=True)]

    def _check(self, name: str, kind: str, value: Any) -> Any:
        """The value, a number as one of Python; raises UsageError if it is not of its kind."""
        if kind in ("real", "complex"):
            value = _number(given := value, float if kind == "real" else complex)
            wanted, what = value is not None, f"a {kind} number that a double holds"
            value = given if value is None else value
        elif kind in ("direction", "gamma"):
            wanted, what = isinstance(value, str) or hasattr(value, "__index__"), f"a {kind}"
        else:
            wanted, what = isinstance(value, _FIELDS[kind]), " or ".join(c.__name__ for c in _FIELDS[kind])
        if not wanted or isinstance(value, bool):
            raise _quarksmith.UsageError(f"{self.__name__}: {name} is {type(value).__name__}; give {what}")
        return value

    def _spins(self, values: list[Any]) -> int:
        return next((v.spins for v in values if isinstance(v, Spinors)), 4)

    def _make_outputs(self, values: list[Any]) -> list[Any]:
        fields = [v for v in values if isinstance(v, GaugeField | Momenta | Spinors)]
        if not fields:
            raise _quarksmith.UsageError(f"{self.__name__} takes no field; give the fields that it writes as out")
        lattice = fields[0].lattice
        rhs = max([v.rhs for v in values if isinstance(v, Spinors)], default=1)
        made: list[Any] = []
        for _, kind in self._outputs:
            if kind in _SPINORS:
                made.append(Spinors(lattice, rhs, self._spins(values)))
            elif kind == "algebra":
                made.append(Momenta(lattice))
            else:
                made.append(next(v for v in fields if isinstance(v, GaugeField)).copy())
        return made

    def _totals(self, sums: list[float]) -> list[Any]:
        """Sums as they were written: a number, or an array of them for several right-hand sides, of each."""
        import numpy as np

        parts = [2 if s.op == "totals" else 1 for s in self._expression.definition.sums]
        if not parts:
            return []
        columns = iter(np.array(sums).reshape(-1, sum(parts)).T)
        found = [next(columns) + 1j * next(columns) if n == 2 else next(columns) for n in parts]
        return [f if len(f) > 1 else f[0].item() for f in found]

    def _spec(self, spins: int) -> KernelSpec:
        """The record of its kernel for fields of Python."""
        from .generator.algebra.gamma import find_basis
        from .generator.spec import KernelSpec

        kinds = dict(self._inputs).values()
        basis = "degrand_rossi" if any(kind.endswith("propagator") for kind in kinds) else "non_relativistic"
        axes: dict[str, Any] = {"precision": "double", "links": "r18", "spins": spins, "basis": find_basis(basis)}
        with wrong_use(self.__name__):
            return KernelSpec(self._expression, **{a: v for a, v in axes.items() if a in self._expression.axes})

    def _call(self, values: list[Any], outputs: list[Any], boundary: Any) -> tuple[Any, ...]:
        """Arguments of `evaluate`; the kernel is compiled if it was not."""
        names, kinds = [n for n, _ in self._inputs], [k for _, k in self._inputs]
        if not (isinstance(boundary, str) or hasattr(boundary, "__iter__")):
            raise _quarksmith.UsageError(f"{self.__name__}: boundary is {type(boundary).__name__}; give four numbers")
        if not (isinstance(boundary, str) and not boundary) and "fermion" not in kinds:
            raise _quarksmith.UsageError(f"{self.__name__} has no Fermion, whose boundary it would be; leave it out")
        phases = boundary if isinstance(boundary, str) else ",".join(map(str, boundary))
        require_one_lattice(self.__name__, [*zip(names, values, strict=True), *(("out", o) for o in outputs)])
        self._compile(self._spins(values))
        return self._expression.name, names, kinds, values, outputs, phases, "basis" in self._expression.axes

    def _compile(self, spins: int) -> None:
        if spins in self._modules:
            return
        from .generator.emit.ondemand import compile_module

        may_compile()
        spec = self._spec(spins)
        with wrong_use(self.__name__):
            module, new = compile_module([spec], build())
        log.info("%s: %s", spec.name, "compiled" if new else "found in the cache")
        _quarksmith.use_kernels(str(module))
        self._modules[spins] = spec


def _number(value: Any, kind: type) -> Any:
    """A number of Python, or an array without axes, as a real or complex one; None if it is no such number."""
    if isinstance(value, str | bytes | bool) or getattr(value, "ndim", 0) > 0:
        return None
    try:
        return kind(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError, OverflowError):
        return None


def _whole_momenta(momenta: Any) -> list[tuple[int, ...]]:
    """Momenta as tuples; raises UsageError if they are not at least one, of three whole numbers each."""
    try:
        found = [tuple(map(index, p)) for p in momenta]
    except TypeError:
        found = []
    if not found or any(len(p) != 3 or max(map(abs, p)) >= 2**31 for p in found):
        raise _quarksmith.UsageError("momenta: give three whole numbers of each, as [(0, 0, 0), (1, 0, 0)]")
    return found


class CellAction:
    """An action stated in a cell; made by the decorator `action`.

    Calls take it as `action=`, with its parameters as keywords: `solve(u, b, action=mine, mass=0.1)`. Run files of
    `hmc` have it by its name: that of the latest statement of the name, where there were several.
    """

    _tables: ClassVar[dict[str, str]] = {}
    """Actions in the library's table: which one by the name that it is called by."""

    def __init__(self, statement: type | Callable[..., Any]) -> None:
        from .generator.language.action import action
        from .generator.operators import add_action

        may_compile()
        with wrong_use(statement.__name__):
            self.statement: type = action(statement)
            self._action: Action = add_action(self.statement.action)  # type: ignore[attr-defined]
        self._call_it(self._action.called)

    def _call_it(self, called: str) -> None:
        """Puts it into the library's table under a name."""
        from .generator.emit.actions_module import compile_action

        if self._tables.get(called) == self._action.name:
            return
        with wrong_use(self.statement.__name__):
            library = compile_action(self._action.name, called, build())
        _quarksmith.add_actions(str(library))
        self._tables[called] = self._action.name
        commands.refresh()

    @property
    def name(self) -> str:
        """As options and run files have it: `twisted-mass` for `TwistedMass`, until another is called so."""
        called = str(self._action.called)
        if self._tables[called] != self._action.name:
            called = f"{called}_{self._action.says[:8]}"
            self._call_it(called)
        return called.replace("_", "-")

    @cached_property
    def _record(self) -> Lowered:
        from .generator.operators import RECORDS

        return RECORDS[self._action.name]

    @property
    def formula(self) -> str:
        """M, as stated."""
        from .generator.emit.words import formula

        return str(formula(self._record))

    def explain(self) -> str:
        """What follows from it, as `python -m quarksmith.generator explain` prints it."""
        from .generator.explain import explain_record

        return str(explain_record(self._record))

    def source(self) -> str:
        """Bodies of the kernels that it has for itself; empty where those of other actions serve it."""
        from .generator.algebra.gamma import find_basis
        from .generator.emit.render import render_files
        from .generator.operators import OPERATORS
        from .generator.spec import KernelSpec

        axes: dict[str, Any] = {"precision": "double", "links": "r18", "spins": self._action.spins}
        axes["basis"] = find_basis("non_relativistic")
        with wrong_use(self.statement.__name__):
            own = [OPERATORS[n] for n in (self._action.name, f"{self._action.name}_dagger") if n in OPERATORS]
            specs = [KernelSpec(o, **{a: v for a, v in axes.items() if a in o.axes}) for o in own]
            files = render_files(specs, f"the cell of {self.statement.__name__}") if specs else {}
        return "\n".join(text for path, text in files.items() if str(path).startswith("bodies/"))

    def check_force(self, gauge: GaugeField, *, even_odd: str = "", step: float = 0.003, **parameters: Any) -> Report:
        """Compares its force, of two flavours with pseudofermions, with differences of their action.

        Args:
            gauge: the links at which it is taken.
            even_odd: form of the operator, as of run files; by default the first that it has.
            step: as of `check_forces`.
            parameters: of the action, `field` among them: a dictionary of files, numbers or arrays.
        """
        quark = {"name": "quark", "kind": "two-flavour", "action": self.name, "tol_force": 1e-12, "tol_action": 1e-12}
        if even_odd:
            quark["even_odd"] = even_odd
        run = {
            "lattice": {"extents": gauge.lattice.extent, "gauge": "unit"},
            "trajectory": {"length": 1.0, "count": 1, "seed": 1},
            "monomial": [quark | parameters],
            "integrator": [{"kind": "leapfrog", "steps": 1, "monomials": ["quark"]}],
        }
        return check_forces(run, gauge, step)

    def __fspath__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        options = ", ".join(p.name for p in self._action.parameters)
        return f"{self.name}({options}): {self._action.text}\n{self.formula}"


def action_of_file(file: str) -> CellAction:
    """The action that a file states, `mine.py` or `mine.py:name`."""
    from .generator.operators import action_of_file as stated

    with wrong_use():
        return CellAction(stated(file).statement)


def expression(function: Callable[..., Any] | str = "") -> Any:
    """Decorator: a function over lattice fields as a kernel; `@expression` or `@expression("name")`.

    What the function may say is in docs/expressions.md. It is called once, with symbols, at once: what is wrong is an
    error here, at its line.
    """
    if isinstance(function, str):
        return lambda inner: CellExpression(inner, function)
    return CellExpression(function)


def action(statement: type | Callable[..., Any]) -> CellAction:
    """Decorator: a class with parameters and `dirac`, or a function of fields and numbers, as an action.

    The function takes fields, the fermion last, and numbers, which are the parameters:
    `def mine(u: Links, psi: Fermion, mass: Real) -> Fermion`. See docs/howto-action.md.
    """
    return CellAction(statement)
