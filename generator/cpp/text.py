"""The computation at a site as C++ statements: loads where they are first needed, sums term by term."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ..algebra.gamma import Basis
from ..language.graph import NAMES
from ..language.printed import literal
from ..language.symbols import PROPAGATORS, SPINORS
from ..language.walks import parts, uses
from ..lower.propagators import Partner, Spin
from ..lower.size import first_sum, is_cheap
from ..lower.values import AT_HOME, Displacement, Value, is_imaginary
from .expressions import colours_argument, combination
from .names import cpp_direction, cpp_name
from .pieces import is_chain, operand, suffix, walked

LONGEST = 72
"""An expression longer than this gets a name."""
VIEWS = {
    **{"spinor": "Spinors", "fermion": "Spinors", "links": "Links", "matrices": "Matrices", "algebra": "Momenta"},
    **{"scalars": "Numbers", "phases": "Numbers"},
    **dict.fromkeys(PROPAGATORS, "Spinors"),
}
_FUNCTIONS = {
    "adj": "adj",
    "trace": "trace",
    "dot": "dot",
    "outer": "outer",
    "ta": "traceless_antihermitian",
    "exp": "exponential",
    "exp_adjoint": "exponential_adjoint",
    "project": "closest_su3",
    "project_adjoint": "closest_su3_adjoint",
    "project_u3": "nearest_unitary",
    "project_u3_adjoint": "nearest_unitary_adjoint",
    "damped_adjoint": "damped_adjoint",
    "relaxed": "relaxed_hits",
    "epsilon": "epsilon",
}


@dataclass
class Statements:
    """Statements that compute some values; each value becomes a name or a short expression.

    Attributes:
        operands: field -> member of the kernel's arguments.
        kinds: field -> kind.
        roots: what is computed.
        inlined: whether products of matrices are inlined.
        transports_inlined: whether products of a matrix and a spinor, and loads of matrices at other sites, are too.
        basis: the gamma basis in which constant matrices act on spins.
        kept: how many matrices that later terms need may stay in registers from one term to the next.
        sparing: whether each term of a sum loads its operands anew, to save registers: a compiler that starts all loads
            at once, or keeps what many terms read, runs out of them.
        flavours: number of spinors of a site that belong together as consecutive right-hand sides.
        colours: number of colours of spinors and matrices.
        at_home: fields that are used at the site itself only, and have no halo where others have one.
    """

    operands: Mapping[str, str]
    kinds: Mapping[str, str]
    roots: Sequence[Value]
    inlined: bool = False
    basis: Basis | None = None
    sparing: bool = False
    kept: int = 0
    flavours: int = 1
    colours: int = 3
    at_home: Collection[str] = ()
    transports_inlined: bool = True
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._uses = uses(self.roots)
        self._names: dict[int, str] = {}
        self._walks: set[Displacement] = set()
        self._loaded: set[int] = set()
        self._later: list[Value] = []
        self._round = 1
        self._counts = {"s": 0, "v": 0}
        self._rhs = "rhs"
        self._adds_up = False

    def value(self, v: Value) -> str:
        """The C++ operand for a value; adds the statements that compute it."""
        if id(v) in self._names:
            return self._names[id(v)]
        if v.op in _STATEMENTS:
            return _STATEMENTS[v.op](self, v)
        code = self._code(v)
        leaf = v.op in ("parameter", "constant", "identity") or (v.op == "adj" and v.args[0].op == "load")
        if leaf or (self._uses[id(v)] < 2 and len(code) <= LONGEST):
            return code
        return self._name(v, "v", "const auto {} = {};", code)

    def add_up(self, roots: Sequence[tuple[int, Value]]) -> None:
        """Adds roots to the sums of the kernel term by term: next is always the one that reuses most and loads least.

        Sets `sparing`. Each root comes with the index of its sum; for a complex root, of the sum of its real part.
        """
        self.sparing = self._adds_up = True
        left = [(n, sign, term) for n, root in roots for sign, term in self._terms(root, 1)]
        below = {id(term): set(map(id, parts([term]))) for _, _, term in left}
        need: dict[int, tuple[int, int]] = {}
        while left:
            need |= {id(term): self._needs(term) for _, _, term in left if id(term) not in need}
            best = min(range(len(left)), key=lambda i: (-need[id(left[i][2])][1], need[id(left[i][2])][0], i))
            n, sign, term = left.pop(best)
            if need[id(term)][0] and self.lines:
                self._forget_loads()
            before = set(self._names)
            code = self.value(term)
            named = self._names.keys() - before - self._loaded
            need = {key: found for key, found in need.items() if below[key].isdisjoint(named)}
            if term.kind == "complex":
                self.lines.append(f"add_number<W>(sums + {n}, {code if sign > 0 else f'-{operand(code)}'});")
                continue
            self.lines.append(f"sums[{n}] {'+' if sign > 0 else '-'}= convert<double, W>({code});")

    def gather(self, roots: Sequence[Value]) -> None:
        """Computes the first long sum of each root, the terms of all in turns, so that one reuses loads of another."""
        sums = [first_sum(root) for root in roots]
        names: dict[int, str] = {}
        left = [(n, sign, term) for n, root in enumerate(sums) for sign, term in self._terms(root, 1)]
        while left:
            order = [(t.op == "load", *self._effort(t), i) for i, (_, _, t) in enumerate(left)]
            n, sign, term = left.pop(min(order)[-1])
            self._later = [t for _, _, t in left]
            if self.lines:
                self._forget_loads(term)
            code = self.value(term)
            if n in names:
                self.lines.append(f"{names[n]} {'+' if sign > 0 else '-'}= {code};")
                continue
            self._counts["s"] += 1
            names[n] = f"s{self._counts['s']}"
            self.lines.append(f"auto {names[n]} = {code if sign > 0 else f'-{operand(code)}'};")
        self._later = list(roots)
        self._forget_loads()
        self._names |= {id(v): names[n] for n, v in enumerate(sums)}

    def _effort(self, v: Value) -> tuple[int, int]:
        """Sort key: values that are used again first, then those that load least beyond what is loaded."""
        loads, again = self._needs(v)
        there: set[int] = set()
        self._needs(v, there)
        return -again, loads - len(there & self._names.keys())

    def _needs(self, v: Value, kept: set[int] | None = None) -> tuple[int, int]:
        """Loads that a value still needs, and values other than loads that it would use again; adds loads to `kept`."""
        loads, again, seen, open_ = 0, 0, set(), [v]
        while open_:
            w = open_.pop()
            if id(w) in seen:
                continue
            seen.add(id(w))
            if w.op == "load":
                loads += 1
                if kept is not None:
                    kept.add(id(w))
            elif id(w) in self._names:
                again += 1
            else:
                open_ += w.args
        return loads, again

    def _forget_loads(self, before: Value | None = None) -> None:
        """Drops loaded values, except those that the next value needs."""
        self.lines.append("in_turns();" if self._rhs == "n" else "in_order();")
        kept: set[int] = set()
        if before is not None:
            self._needs(before, kept)
        for later in self._later:
            needed: set[int] = set()
            self._needs(later, needed)
            more = sorted(needed & self._names.keys() - kept)
            kept.update(more[: max(self.kept - len(kept & self._names.keys()), 0)])
        self._loaded -= kept
        self._names = {key: name for key, name in self._names.items() if key not in self._loaded}
        self._loaded = kept & self._names.keys()
        self._walks.clear()
        self._round += 1

    def _name(self, v: Value, letter: str, statement: str, code: str) -> str:
        self._counts[letter] += 1
        name = f"{letter}{self._counts[letter]}"
        self.lines.append(statement.format(name, code))
        self._keep(v, name)
        return name

    def _keep(self, v: Value, name: str) -> None:
        """Remembers the name of a value; in `sparing` mode, one made of loads and sums is forgotten as loads are."""
        self._names[id(v)] = name
        if self.sparing and not self._adds_up and all(map(is_cheap, parts([v]))):
            self._loaded.add(id(v))

    def right_hand_side(self, flavour: int) -> str:
        """The index of the right-hand side that holds a flavour of the spinor the kernel works on."""
        if self.flavours == 1:
            return self._rhs
        return f"{self.flavours} * {self._rhs}" + (f" + {flavour}" if flavour else "")

    def _load(self, v: Value) -> str:
        field_name, mu, at = v.data
        name = cpp_name(field_name)
        kind = self.kinds[field_name]
        site = self.site_of(field_name) if kind == "fermion" or at == AT_HOME else self._site(at)
        view = VIEWS[kind]
        where = f"a.{self.operands[field_name]}, {site}"
        variable = name
        if kind in SPINORS:
            rhs = self.right_hand_side(mu)
            variable += f"_{mu}" if self.flavours > 1 else ""
            code = f"load_spinor<{view}>({where}, {rhs})"
            if kind == "fermion" and at != AT_HOME:
                steps, along = walked(at)
                code = f"load_fermion<{view}, {steps}>(a, a.{self.operands[field_name]}, x, {rhs}{along})"
        elif kind in PROPAGATORS:
            sink, source = mu or (0, 0)
            ends = f"{self._spin(sink)}, {self._spin(source)}"
            variable += f"_{_spin_name(sink)}{_spin_name(source)}" if mu else ""
            code = f"load_element<{view}>({where}, {ends})"
        else:
            matrix = "load_matrix" if self.transports_inlined or at == AT_HOME else "matrix_at"
            function = "load_number" if view == "Numbers" else matrix
            variable += "" if kind == "scalars" else f"_{NAMES[mu]}"
            code = f"{function}<{view}>({where}, {cpp_direction(mu)})"
        if at != AT_HOME:
            variable += "_at_" + suffix(at)
        variable += self._again()
        self._loaded.add(id(v))
        self.lines.append(f"const auto {variable} = {code};")
        self._names[id(v)] = variable
        return variable

    def site_of(self, name: str) -> str:
        """C++ expression for the site itself in a field."""
        return "home" if name in self.at_home else "x"

    def _site(self, at: Displacement) -> str:
        name = f"at_{suffix(at)}{self._again()}"
        if at not in self._walks:
            self._walks.add(at)
            steps, along = walked(at)
            self.lines.append(f"const auto {name} = walk<{steps}>(a, x{along});")
        return name

    def _again(self) -> str:
        """Suffix for names of values that are loaded again, so that names stay unique; empty the first time."""
        return f"_{self._round}" if self._round > 1 else ""

    def _terms(self, v: Value, sign: int, root: bool = True) -> list[tuple[int, Value]]:
        """The terms of nested sums, with signs; an inner sum that is also used elsewhere stays one term."""
        if v.op in ("add", "sub") and (root or self._uses[id(v)] < 2) and id(v) not in self._names:
            left = self._terms(v.args[0], sign, False)
            return left + self._terms(v.args[1], sign if v.op == "add" else -sign, False)
        if v.op == "neg":
            return self._terms(v.args[0], -sign, False)
        return [(sign, v)]

    def _sum(self, v: Value) -> str:
        terms = self._terms(v, 1)
        # An added term comes first if there is one; in `sparing` mode plain loads come last, after costly terms.
        terms.sort(key=lambda term: (self.sparing and term[1].op == "load", -term[0]))
        sign, first = terms[0]
        start = self.value(first)
        name = self._name(v, "s", "auto {} = {};", start if sign > 0 else f"-{start}")
        del self._names[id(v)]
        for n, (sign, term) in enumerate(terms[1:], 2):
            if self.sparing and term.kind in ("matrix", "spinor") and self._needs(term)[0] > (term.kind == "matrix"):
                outside, self._later = self._later, [*(t for _, t in terms[n:]), *self._later]
                self._forget_loads(None if self._adds_up else term)
                self._later = outside
            self.lines.append(f"{name} {'+' if sign > 0 else '-'}= {self.value(term)};")
        self._keep(v, name)
        return name

    def _summed(self, v: Value) -> str:
        """A loop over right-hand sides; names and loads inside it are not visible outside."""
        self._counts["s"] += 1
        name = f"s{self._counts['s']}"
        self.lines += [f"typename Matrices::Value {name} = {{}};", "for (int n = 0; n < a.columns; ++n) {"]
        outside = self.lines, dict(self._names), set(self._walks), set(self._loaded)
        self.lines, self._rhs = [], "n"
        for n, (sign, term) in enumerate(self._turned_terms(v.args[0])):
            if n > 0 and self.sparing:
                self._forget_loads(term)
            self.lines.append(f"{name} {'+' if sign > 0 else '-'}= {self.value(term)};")
        inside, self._rhs = self.lines, "rhs"
        self.lines, self._names, self._walks, self._loaded = outside
        self.lines += [*(f"  {line}" for line in inside), "}"]
        self._names[id(v)] = name
        return name

    def _turned_terms(self, v: Value) -> list[tuple[int, Value]]:
        """The terms of a sum; a conjugate sum is conjugated term by term, which avoids keeping it in registers."""
        found: list[tuple[int, Value]] = []
        for sign, term in self._terms(v, 1):
            apart = self._terms(term.args[0], sign) if term.op == "adj" and self.sparing else []
            found += [(s, Value("adj", t.kind, (t,))) for s, t in apart] or [(sign, term)]
        return found

    def _turned(self, v: Value) -> str:
        """A spinor times a constant matrix: its rows as combinations of colour vectors."""
        assert self.basis is not None
        psi = self.value(v.args[0])
        if not re.fullmatch(r"\w+", psi):
            psi = self._name(v.args[0], "v", "const auto {} = {};", psi)
        names = [f"{psi}[{s}]" for s in range(4)]
        rows = [combination(row, names) or f"times(0, {names[0]})" for row in v.data.rows(self.basis)]
        fewer = f"Spinor<R, {len(rows)}{colours_argument(self.colours)}>"
        kind = "typename Spinors::Value" if len(rows) == 4 else fewer
        return self._name(v, "v", f"const {kind} {{}} = {{{{{{}}}}}};", ", ".join(rows))

    def _spin(self, spin: Spin) -> str:
        return f"{cpp_name(spin.gamma)}.partner({spin.spin})" if isinstance(spin, Partner) else str(spin)

    def _code(self, v: Value) -> str:
        if v.op in _CODES:
            return _CODES[v.op](self, v)
        if v.op == "outer" and self.sparing:
            return f"outer({', '.join(self._in_turns(v.args))})"
        args = ", ".join([self.value(a) for a in v.args])
        return f"conj({args})" if v.op == "adj" and v.kind == "complex" else f"{_FUNCTIONS[v.op]}({args})"

    def _constant(self, v: Value) -> str:
        parts = (v.data.real, v.data.imag) if isinstance(v.data, complex) else (v.data,)
        numbers = ", ".join(f"broadcast<R>({literal(part)})" for part in parts)
        return f"Complex<R>{{{numbers}}}" if len(parts) > 1 else numbers

    def _sign(self, v: Value) -> str:
        mask = sum(1 << mu for mu in v.data)
        return f"staggered_sign<{mask}>(x, broadcast<R>(1))" if mask else "broadcast<R>(1)"

    def _both(self, a: Value, b: Value) -> tuple[str, str]:
        """Two operands; in `sparing` mode the one with more loads is computed first, so that the other is not kept."""
        if self.sparing and not self._adds_up and self._needs(b)[0] > self._needs(a)[0]:
            right = self.value(b)
            return self.value(a), right
        return self.value(a), self.value(b)

    def _in_turns(self, args: Sequence[Value]) -> list[str]:
        """Operands that are computed one after another: each is finished before the next is loaded."""
        found: list[str] = []
        for a in args:
            if found and self._needs(a)[0] > 0:
                self._forget_loads(a)
            found.append(self.value(a))
        return found

    def _product(self, v: Value) -> str:
        a, b = v.args
        if b.kind == "spinor" and a.kind == "matrix":
            product = "mul" if self.transports_inlined else "product"
            if a.op == "adj":
                return f"{product}_adj({self.value(a.args[0])}, {self.value(b)})"
            return f"{product}({self.value(a)}, {self.value(b)})"
        if a.kind == b.kind == "matrix":
            left, right = self._both(a, b)
            if not self.inlined:
                return f"product({left}, {right})"
            return f"{left if is_chain(left) else operand(left)} * {operand(right)}"
        if is_imaginary(a) and a.data.imag == 1 and b.kind == "complex":
            return f"times_i({self.value(b)})"
        if is_imaginary(a) and b.kind in ("complex", "matrix"):
            return f"broadcast<R>({literal(a.data.imag)}) * times_i({self.value(b)})"
        if (a.kind, b.kind) == ("complex", "real"):
            a, b = b, a
        return f"{operand(self.value(a))} * {operand(self.value(b))}"


def _spin_name(spin: Spin) -> str:
    return f"{spin.gamma}{spin.spin}" if isinstance(spin, Partner) else str(spin)


_CODES: dict[str, Callable[[Statements, Value], str]] = {
    "unit": lambda s, v: f"{cpp_name(v.data[0])}.template element<R>({s._spin(v.data[1])})",
    "sign": Statements._sign,
    "parameter": lambda s, v: cpp_name(v.data),
    "constant": Statements._constant,
    "identity": lambda s, v: f"unit_matrix<R{colours_argument(s.colours)}>()",
    "mul": Statements._product,
    "neg": lambda s, v: f"-{operand(s.value(v.args[0]))}",
    "promote": lambda s, v: f"Complex<R>{{{s.value(v.args[0])}, broadcast<R>(0)}}",
    "div": lambda s, v: " / ".join([operand(s.value(a)) for a in v.args]),
    **dict.fromkeys(("re", "im"), lambda s, v: f"{operand(s.value(v.args[0]))}.{v.op}"),
}
"""Code of operations that are no calls of functions."""
_STATEMENTS: dict[str, Callable[[Statements, Value], str]] = {
    "load": Statements._load,
    **dict.fromkeys(("add", "sub"), Statements._sum),
    "spin": Statements._turned,
    "summed": Statements._summed,
}
"""Those of operations whose values have names in any case."""
