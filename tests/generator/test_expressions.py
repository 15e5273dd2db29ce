"""The language of lattice expressions: kinds, errors at the user's line, what is emitted and counted."""

import numpy as np
import pytest

from generator.algebra.gamma import BASES
from generator.errors import ExpressionError, SpecError
from generator.language import (
    Algebra,
    Complex,
    Links,
    Matrices,
    Real,
    Spinor,
    adj,
    directions,
    dot,
    exp,
    expression,
    identity,
    re,
    shift,
    space,
    ta,
    total,
    x,
    y,
)
from generator.language.formula import Definition, Formula, named, parameter_symbol
from generator.language.gauge import staples
from generator.language.place import Place
from generator.language.symbols import symbol
from generator.operators import OPERATORS, add_expressions, find_operator, kernel
from generator.operators.expression import FIELD_POOL, NUMBER_POOL, Expression
from generator.spec import KernelSpec

jacobi_step = OPERATORS["jacobi_step"]


@Expression
@expression
def flow_step(u: Links, drift: Algebra, now: Real, before: Real) -> tuple[Links, Algebra]:
    moved = {mu: now * ta(staples(u, mu, directions) * adj(u[mu])) + before * drift[mu] for mu in directions}
    return {mu: exp(moved[mu]) * u[mu] for mu in directions}, moved


def lines(formula) -> list[str]:
    e = formula if isinstance(formula, Expression) else Expression(formula)
    return [line for block in e.body(KernelSpec(e, "double"))["blocks"] for line in block["lines"]]


def test_the_listing_becomes_six_loads_of_each_kind():
    text = lines(jacobi_step)
    assert sum("load_matrix<Links>" in line for line in text) == 6
    assert sum("load_spinor<Spinors>" in line for line in text) == 7
    assert "s2 += mul_adj(u_x_at_mx, psi_at_mx);" in text  # shift(adj(u)*psi, -mu): both are read at x - mu
    assert not any("_t" in line for line in text)  # the direction that the loop leaves out


def test_long_formulas_call_what_takes_spinors_along_links():
    """Inlined, they make code of processors slower and compilers take longer."""
    nr = BASES["non_relativistic"]
    text = {
        name: "\n".join(
            line for b in OPERATORS[name].body(kernel(name, "double", "r18", basis=nr))["blocks"] for line in b["lines"]
        )
        for name in ("d234", "brillouin", "brillouin_dagger")
    }
    assert " mul_adj(" in text["d234"] and "product" not in text["d234"] and "matrix_at" not in text["d234"]
    for name in ("brillouin", "brillouin_dagger"):
        counts = [text[name].count(f" {call}(") for call in ("product", "product_adj", "mul", "mul_adj")]
        assert counts == [108, 108, 0, 0]
        assert text[name].count("load_matrix<") == 4  # at the site itself
        assert text[name].count("matrix_at<") > 4


def test_costs_are_counted_from_the_graph():
    spec = kernel("jacobi_step", "single", "r12", spins=4)
    cost = jacobi_step.cost(spec)
    assert cost.flops == 6 * 4 * 66 + 5 * 24 + 24 + 24  # products, sums of six, kappa h, s + ...
    assert cost.bytes == 4 * (3 * 12 + 3 * 24)  # links, psi, source, out
    assert jacobi_step.cost(kernel("jacobi_step", "single", "r12", spins=1)).flops == cost.flops / 4


def test_hopping_terms_of_the_same_sum_cost_the_same_bytes_but_for_links_of_both_parities():
    laplace = find_operator("laplace3").cost(kernel("laplace3", "single", "r12", epilogue="axpby", tile=1))
    assert jacobi_step.cost(kernel("jacobi_step", "single", "r12", spins=4)).bytes == laplace.bytes - 4 * 3 * 12


def test_common_parts_are_computed_once_and_shifts_commute():
    @expression
    def twice(u: Links, f: Spinor) -> Spinor:
        there = shift(shift(f, +x), +y)
        return u[x] * there + u[y] * shift(shift(f, +y), +x) - adj(adj(u[x])) * there

    text = lines(twice)
    assert sum("load_spinor" in line for line in text) == 1
    assert sum("load_matrix" in line for line in text) == 2
    assert sum("mul(u_x, f_at_px_py)" in line for line in text) == 1


def test_opposite_shifts_cancel():
    @expression
    def home(f: Spinor) -> Spinor:
        return shift(shift(f, +x), -x)

    assert lines(home) == [
        "const auto f = load_spinor<Spinors>(a.in, x, rhs);",
        "store_spinor<Spinors>(a.out, x, rhs, f);",
    ]
    assert Expression(home).signature == "f:spinor:in:here out:spinor:out:out"


@pytest.mark.parametrize(("sites", "name"), [(3, "psi_at_pxxx"), (100, "psi_at_px100")])
def test_names_of_far_sites_fit_into_a_line(sites, name):
    @expression
    def far(psi: Spinor) -> Spinor:
        return shift(psi, sites * x)

    assert any(f"const auto {name} = load_spinor" in line for line in lines(far))


def test_numbers_take_the_places_of_the_call():
    @expression
    def many(f: Spinor, p: Real, c: Complex, q: Real, r: Real) -> Spinor:
        return p * f + c * f + q * f + r * f

    assert [Expression(many).operands[n] for n in "pcqr"] == ["b.re", "a", "c.re", "b.im"]

    most = len(NUMBER_POOL)
    with pytest.raises(ExpressionError, match=f"more numbers than {most} complex ones"):
        _ = Expression(sum_of("complex", most + 1)).operands


def sum_of(kind, count):
    """A formula of so many fields or numbers: their sum times a spinor, or the sum over sites of its square."""
    names = [f"a{k}" for k in range(count)]
    inputs = [(n, kind) for n in names]
    if kind == "complex":
        result = sum(parameter_symbol(n, kind) for n in names) * symbol("f", "spinor")
        definition = Definition("many", Place("", 0), "", (*inputs, ("f", "spinor")), (("out", "spinor"),), (result,))
    else:
        whole = sum(symbol(n, kind) for n in names)
        definition = Definition("many", Place("", 0), "", tuple(inputs), (), (), (total(re(dot(whole, whole))),))
    return Formula("many", lambda: definition)


def test_outputs_may_be_inputs_only_where_nothing_else_is_read():
    assert "u:links:links:apart:1.1.1.1.1.1.1.1.corners drift:algebra:x:here" in flow_step.signature


def test_signatures_tell_how_far_fields_are_read():
    @expression
    def far(u: Links, psi: Spinor, home: Spinor) -> Spinor:
        return u[x] * shift(shift(psi, +x), +x) + shift(adj(u[y]) * psi, -y) + home

    assert Expression(far).read_from == {"u": "0.0.1.0.0.0.0.0", "psi": "0.2.1.0.0.0.0.0"}
    assert "psi:spinor:in:apart:0.2.1.0.0.0.0.0 home:spinor:x:here " in Expression(far).signature
    assert flow_step.read_from == {"u": "1.1.1.1.1.1.1.1.corners"}  # staples go round corners


def test_sums_leave_room_for_what_sites_add():
    most = len(FIELD_POOL) - 1
    assert "out" not in Expression(sum_of("spinor", most)).operands.values()
    with pytest.raises(ExpressionError, match=f"more than {most} fields"):
        _ = Expression(sum_of("spinor", most + 1)).operands


def test_wrong_signatures_are_refused():
    def untyped(u, f: Spinor) -> Spinor:
        return f

    def promises(u: Links) -> Links:
        return u[x]

    def three(u: Links) -> Links:
        return {mu: u[mu] for mu in space}

    def no_algebra(u: Links) -> Algebra:
        return {mu: u[mu] for mu in directions}

    def two(f: Spinor) -> Spinor:
        return f, f

    for function, message in [
        (untyped, "parameter u of untyped needs an annotation"),
        (promises, "return a dictionary"),
        (three, "return a dictionary"),
        (no_algebra, "is not an element of the algebra"),
        (two, "returns 2 values"),
    ]:
        with pytest.raises(ExpressionError, match=message):
            _ = named(function).definition


def test_matrices_of_any_size_have_no_short_format():
    @expression
    def double(m: Matrices) -> Matrices:
        return {mu: 2 * m[mu] + identity - identity for mu in directions}

    assert Expression(double).arguments(KernelSpec(Expression(double), "single"))[-2:] == ["R18", "4"]
    with pytest.raises(SpecError, match="use double or single"):
        Expression(double).arguments(KernelSpec(Expression(double), "half"))


def test_a_file_of_the_user_is_read(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from generator.language import Spinor, expression\n\n\n"
        '@expression("of_the_user")\ndef f(psi: Spinor) -> Spinor:\n    return 2 * psi\n'
    )
    assert [e.name for e in add_expressions(file)] == ["of_the_user"]
    assert OPERATORS.pop("of_the_user").formula == "out = 2.0*psi"


EXPRESSION = "from generator.language import *\n\n@expression\ndef {}(psi: Spinor) -> Spinor:\n    return psi\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_like_this\n", "mine.py:1: ModuleNotFoundError"),
        ("x = 1\n", "holds no expression"),
        (EXPRESSION.format("plaquette"), "mine.py:3: plaquette is the name of an operator of the library"),
        (
            EXPRESSION.format("mine") + EXPRESSION.format("other").replace("on\n", "on('mine')\n"),
            "mine is the name of an",
        ),
        (EXPRESSION.format("Mine"), "mine.py:3: 'Mine' is part of names of kernels"),
        ("\n\ndef f(:\n", "^[^ ]*mine.py:3: SyntaxError: [^(]*$"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, text, message):
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(SpecError, match=message):
        add_expressions(tmp_path / "mine.py")


def test_files_of_the_user_do_not_replace_expressions_of_each_other(tmp_path):
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(EXPRESSION.format("of_two_files"))
    try:
        add_expressions(tmp_path / "one.py")
        add_expressions(tmp_path / "one.py")  # a file may be read again
        with pytest.raises(SpecError, match=r"two.py:3: of_two_files is the name of another expression at .*one.py:3"):
            add_expressions(tmp_path / "two.py")
    finally:
        OPERATORS.pop("of_two_files")


ANY_VALUE = "no condition can depend on one"
BODIES = [
    ("psi * u[x]", "write the matrix before the spinor"),
    ("psi * psi", r"use dot\(f, g\)"),
    ("u[x] + psi", "cannot add a matrix and a spinor"),
    ("u[x] + 1", r"write c\*identity for a matrix"),
    ("exp(u[x])", r"write exp\(ta\(...\)\)"),
    ("exp(1j * ta(u[x]))", "not known to be anti-Hermitian"),
    ("trace(psi)", "trace takes a matrix"),
    ("adj(psi)", "use dot"),
    ("adj(u)", "links need an index"),
    ("u[0]", "the index is no direction"),
    ("shift(psi, x)", r"write \+mu or -mu"),
    ("psi[x]", "only fields with four matrices a site have directions"),
    ("psi / psi", "divide by a number that is the same at all sites"),
    ("u[x] * '2'", "neither part of an expression nor a number"),
    ("total(re(dot(psi, psi))) + 1", "cannot add a sum"),
    ("im(re(dot(psi, psi)))", "im takes a complex"),
    ("psi if a == 0 else 2 * psi", ANY_VALUE),
    ("psi if a > 0 else 2 * psi", ANY_VALUE),
    ("psi if psi else 2 * psi", ANY_VALUE),
    ("psi if u else 2 * psi", ANY_VALUE),
    ("psi if u == psi else 2 * psi", ANY_VALUE),
    ("psi if a in {0, 1} else 2 * psi", ANY_VALUE),
    ("{0: psi}.get(a, 2 * psi)", ANY_VALUE),
    ("psi if mu else 2 * psi", "neither true nor false"),
    ("psi if mu in {x} else 2 * psi", "not known before the call"),
    ("{x: psi}.get(mu, 2 * psi)", "not known before the call"),
    ("psi if +mu == +x else 2 * psi", "not known before the call"),
    ("10**400 * psi", "no double can hold it"),
    ("float('nan') * psi", "it is not finite"),
    ("abs(a) * psi", "TypeError"),
    ("a**2 * psi", "write a product"),
    ("forms(u, psi)", "RecursionError"),
    ("__import__('sys').exit(3)", "SystemExit: 3"),
    ("many(lambda r: r + a * psi, psi, 3000)", "operations inside of each other"),
    ("many(lambda r: r * r, a, 60) * psi", "operations, written out"),
    ("tau[1] * psi", "flavours are for statements of actions"),
    ("sigma[x] * psi", "a pair of directions"),
    ("spin_matrix([[1], ['a']]) * psi", "four rows of four"),
    ("shift(psi, 10**30 * x)", "at most 1000 sites"),
]


@pytest.mark.parametrize(("body", "message"), BODIES, ids=[body for body, _ in BODIES])
def test_what_no_kernel_can_compute_is_refused_at_its_line(tmp_path, body, message):
    lines = ["from generator.language import *", "forms = lambda u, psi: forms(u, psi)", "def many(step, r, n):"]
    lines += ["    for _ in range(n): r = step(r)", "    return r", "@expression"]
    lines += ["def of_a_slip(u: Links, psi: Spinor, a: Real, mu: Direction) -> Spinor:", f"    return {body}", ""]
    (tmp_path / "mine.py").write_text("\n".join(lines))
    try:
        (found,) = add_expressions(tmp_path / "mine.py")
        with pytest.raises(ExpressionError, match=message) as error:
            _ = found.blocks
    finally:
        OPERATORS.pop("of_a_slip")
    line = 2 if "RecursionError" in message else 8
    assert str(error.value).startswith(f"{tmp_path}/mine.py:{line}: ") and "\n" not in str(error.value)


@pytest.mark.parametrize("result", ["psi", "1j", "-mu", "None"])
def test_what_is_no_matrix_is_refused_at_the_function(tmp_path, result):
    text = EXPRESSION.format("of_no_matrices").replace("psi: Spinor", "psi: Spinor, mu: Direction")
    text = text.replace("-> Spinor", "-> Matrices").replace("return psi", f"return {{d: {result} for d in directions}}")
    (tmp_path / "mine.py").write_text(text)
    try:
        (found,) = add_expressions(tmp_path / "mine.py")
        with pytest.raises(ExpressionError, match=r"mine.py:3: of_no_matrices, direction x: .* is not a matrix"):
            _ = found.definition
    finally:
        OPERATORS.pop("of_no_matrices")


@pytest.mark.parametrize("parameters", ["*psi: Spinor", "psi: Spinor, a: Real = 3", "psi: Spinor, \u03c0: Real"])
def test_parameters_are_plain(tmp_path, parameters):
    (tmp_path / "mine.py").write_text(EXPRESSION.format("of_odd_parameters").replace("psi: Spinor", parameters))
    try:
        (found,) = add_expressions(tmp_path / "mine.py")
        with pytest.raises(ExpressionError, match=r"mine.py:3: (psi|a|\u03c0)"):
            _ = found.definition
    finally:
        OPERATORS.pop("of_odd_parameters")


def test_words_of_cpp_are_names_of_expressions_and_parameters():
    @expression
    def double(psi: Spinor, register: Real) -> Spinor:
        return register * psi

    assert (
        Expression(double).call()["declaration"].startswith("inline void double_(const SpinorField& psi, double regis")
    )
    assert "register_ * psi" in "\n".join(lines(double))


def test_numbers_of_numpy_are_numbers():
    @expression
    def doubled(psi: Spinor) -> Spinor:
        return np.float32(0.5) * psi + psi * np.int64(2)

    assert Expression(doubled).formula == "out = 0.5*psi + 2.0*psi"
