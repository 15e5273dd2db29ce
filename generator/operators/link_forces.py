"""Forces on smeared links taken back to the links that they are made of: the chain rule, step by step of a smearing."""

from __future__ import annotations

from generator.language import Direction, adj, directions, exp, ta, total
from generator.language.derivative import Weighted, pulled_back, weighted
from generator.language.gauge import line, staple
from generator.language.graph import Node, Place, make
from generator.language.symbols import Definition, FourMatrices
from generator.operators.derived import CALLED, MOMENTA, Derived

Fields = tuple[tuple[str, str], ...]
_MU, _NU = CALLED[:2]


def stout_force() -> Derived:
    """From the force Z = [V G]_TA / 2 on stout links V = exp(A) U, A = rho [C U^+]_TA, to that on U (hep-lat/0311018).

    Here half the derivative by the sums C of staples, with what comes through U beside them; what comes through the
    staples is `back_staple`.
    """
    u, c, z = (FourMatrices(n, n == "z") for n in ("u", "c", "z"))

    def derive() -> Definition:
        rho = make("parameter", "real", (), "rho")
        turned = {mu: exp(rho * ta(c[mu] * adj(u[mu]))) for mu in directions}
        outputs = [(e, adj(e) * z[mu]) for mu, e in turned.items()]
        own = pulled_back(outputs, "u")
        moved = {mu: MOMENTA[mu] + ta(adj(e) * z[mu] * e) + ta(u[mu] * own[mu]) for mu, e in turned.items()}
        inputs = (("u", "links"), ("c", "matrices"), ("z", "algebra"), ("p", "algebra"), ("rho", "real"))
        return _definition(
            "back_stout", inputs, (("source", "matrices"), ("out", "algebra")), (pulled_back(outputs, "c"), moved)
        )

    return Derived(derive, "back_stout", "forces_of_links", derive=derive)


def path_forces() -> list[Derived]:
    """Steps in which fat and long links are made (fat_links.py), backwards: derivatives by what a step reads.

    Each adds what comes from the derivative g by the result of a step to derivatives by the links u and v in it.
    """
    u, v, g = (FourMatrices(n, algebra=False) for n in ("u", "v", "g"))
    plane, fields = (("mu", "direction"), ("nu", "direction")), (("u", "links"), ("v", "matrices"), ("g", "matrices"))
    both = (("by_v", "matrices"), ("by_u", "matrices"), ("weight_v", "real"), ("weight_u", "real"))

    def of_staple() -> Definition:
        step = [(staple(u[_NU], v[_MU], _MU, _NU), g[_MU])]
        results = (
            _added("by_v", pulled_back(step, "v"), "weight_v"),
            _added("by_u", pulled_back(step, "u"), "weight_u"),
        )
        outputs = (("by_v_out", "matrices"), ("by_u_out", "matrices"))
        return _definition("back_staple", (*fields, *both, *plane), outputs, results)

    def of_naik() -> Definition:
        back = pulled_back([(line(u, mu, 3), g[mu]) for mu in directions], "u")
        inputs = (fields[0], fields[2], both[1], ("weight", "real"))
        return _definition("back_naik", inputs, (("by_u_out", "matrices"),), (_added("by_u", back, "weight"),))

    def of_projection() -> Definition:
        back = pulled_back([(make("project_u3", "matrix", (v[mu],)), g[mu]) for mu in directions], "v")
        return _definition("back_project_u3", fields[1:], (("by_v", "matrices"),), (back,))

    def of_link() -> Definition:
        moved = {mu: MOMENTA[mu] + ta(u[mu] * g[mu]) for mu in directions}
        inputs = (fields[0], fields[2], ("p", "algebra"))
        return _definition("force_link", inputs, (("out", "algebra"),), (moved,))

    def damped() -> Definition:
        count = sum(make("damped_adjoint", "real", (v[mu],)) for mu in directions)
        return _definition("damped_projections", fields[1:2], (), (total(count),))

    makers = {"back_staple": of_staple, "back_naik": of_naik, "damped_projections": damped}
    makers |= {"back_project_u3": of_projection, "force_link": of_link}
    return [Derived(maker, name, "forces_of_links", derive=maker) for name, maker in makers.items()]


_TEXTS = {
    "back_stout": "out = p + dP/dtau through the links that are turned, and half the derivative by the sums of staples",
    "back_staple": "by_v, by_u plus weights times the derivatives, given g by the staple of u[nu] and v[mu]",
    "back_naik": "by_u + weight times the derivative, given g by three links in a row",
    "back_project_u3": "the derivative by v, given g by the element of U(3) nearest to v",
    "damped_projections": "how many links v have a back_project_u3 that is damped: small eigenvalues of v^+ v",
    "force_link": "out = p + [U g]_TA: dP/dtau where g is half the derivative of the action by the links",
}


def _definition(
    name: str, inputs: Fields, outputs: Fields, results: tuple[dict[Direction, Node] | Node, ...]
) -> Definition:
    place = Place(__file__, path_forces.__code__.co_firstlineno)
    return Definition(name, place, _TEXTS[name], inputs, outputs, results)


def _added(before: str, back: dict[Direction, Node], weight: str) -> dict[Direction, Node]:
    """What is given plus a number of the call times what comes back."""
    found = {}
    for mu, node in back.items():
        w = weighted(node)
        number = make("parameter", "real", (), weight)
        found[mu] = FourMatrices(before, algebra=False)[mu] + Weighted(w.factor, (number, *w.numbers), w.node).value
    return found


def link_forces() -> list[Derived]:
    """All of them."""
    return [stout_force(), *path_forces()]
