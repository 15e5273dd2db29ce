"""Dirac operators of the literature, written down once more term by term as dense matrices: nothing of statements."""

import itertools

import numpy as np

from generator.algebra.gamma import DEGRAND_ROSSI

EXTENT = (2, 2, 2, 4)
PHASES = (1, np.exp(0.4j), 1, -1)
G = DEGRAND_ROSSI.gamma
G5 = np.diag([1, 1, -1, -1]).astype(complex)
ONE = np.eye(4)


def at(site, mu, steps):
    """The site `steps` away along mu, and the phase that a fermion picks up on the way."""
    phase = 1
    there = list(site)
    for _ in range(abs(steps)):
        there[mu] += 1 if steps > 0 else -1
        if there[mu] in (-1, EXTENT[mu]):
            phase *= PHASES[mu] if steps > 0 else np.conj(PHASES[mu])
            there[mu] %= EXTENT[mu]
    return tuple(there), phase


def hop(u, psi, site, mu, steps=1):
    """U psi of the forward and of the backward neighbour."""
    ahead, p = at(site, mu, steps)
    behind, q = at(site, mu, -steps)
    back = u[(*behind, mu)].conj().T
    return np.einsum("ab,...b->...a", p * u[(*site, mu)], psi[ahead]), np.einsum("ab,...b->...a", q * back, psi[behind])


def each_site(psi, function):
    out = np.zeros_like(psi)
    for site in itertools.product(*map(range, EXTENT)):
        out[site] = function(site)
    return out


def spin(matrix, psi):
    return np.einsum("ab,...bc->...ac", matrix, psi)


def wilson(u, psi, mass, xi0=1.0, nu=1.0):
    def at_site(site):
        result = (mass + 1 + 3 * nu / xi0) * psi[site]
        for mu in range(4):
            forward, backward = hop(u, psi, site, mu)
            weight = 0.5 * (1 if mu == 3 else nu / xi0)
            result = result - weight * (spin(ONE - G[mu], forward) + spin(ONE + G[mu], backward))
        return result

    return each_site(psi, at_site)


def clover_term(u, psi, csw_r, csw_t):
    """(i/4) sum over all ordered pairs of c sigma_munu Fhat, Fhat = (Q - Q^+)/8 (hep-lat/9605038, eq. 2.2)."""

    def link(site, mu, forward):
        if forward:
            return u[(*site, mu)], at(site, mu, 1)[0]
        behind = at(site, mu, -1)[0]
        return u[(*behind, mu)].conj().T, behind

    def path(site, steps):
        product = np.eye(3)
        for mu, forward in steps:
            matrix, site = link(site, mu, forward)
            product = product @ matrix
        return product

    def at_site(site):
        result = np.zeros_like(psi[site])
        for mu, nu in itertools.permutations(range(4), 2):
            c = csw_t if 3 in (mu, nu) else csw_r
            q = sum(
                path(site, steps)
                for steps in (
                    ((mu, 1), (nu, 1), (mu, 0), (nu, 0)), ((nu, 1), (mu, 0), (nu, 0), (mu, 1)),
                    ((mu, 0), (nu, 0), (mu, 1), (nu, 1)), ((nu, 0), (mu, 1), (nu, 1), (mu, 0)),
                )
            )  # fmt: skip
            sigma = 0.5j * (G[mu] @ G[nu] - G[nu] @ G[mu])
            result = result + 0.25j * c * spin(sigma, np.einsum("ab,...b->...a", (q - q.conj().T) / 8, psi[site]))
        return result

    return each_site(psi, at_site)


def stag(u, psi, mass, order, long=None):
    def at_site(site):
        result = 2 * mass * psi[site]
        for mu in range(4):
            eta = (-1) ** sum(site[nu] for nu in order[: order.index(mu)])
            for links, steps in ((u, 1), (long, 3)):
                if links is not None:
                    forward, backward = hop(links, psi, site, mu, steps)
                    result = result + eta * (forward - backward)
        return result

    return each_site(psi, at_site)


def domain_wall(u, psi, mass, m5, b, c, xi0, nu):
    """D psi_s = (b D_W + 1) psi_s + (c D_W - 1) (P_- psi_{s+1} + P_+ psi_{s-1}) (arXiv:1206.5214)."""
    slices = psi.shape[4]
    around = np.zeros_like(psi)
    for s in range(slices):
        up = psi[..., (s + 1) % slices, :, :, :] * (-mass if s + 1 == slices else 1)
        down = psi[..., s - 1, :, :, :] * (-mass if s == 0 else 1)
        around[..., s, :, :, :] = spin((ONE - G5) / 2, up) + spin((ONE + G5) / 2, down)
    return b * wilson(u, psi, -m5, xi0, nu) + psi + c * wilson(u, around, -m5, xi0, nu) - around


def twisted(u, psi, wilson_part, mu, epsilon=0.0):
    tau3 = np.diag([1, -1]) if psi.shape[5] == 2 else np.eye(1)
    tau1 = np.array([[0, 1], [1, 0]]) if psi.shape[5] == 2 else np.zeros((1, 1))
    turned = np.einsum("fg,...gsc->...fsc", tau3, spin(G5, psi))
    return wilson_part + 1j * mu * turned + epsilon * np.einsum("fg,...gsc->...fsc", tau1, psi)


def d234(u, psi, mass, b, c):
    """sum_mu gamma_mu nabla_mu (1 - b Delta_mu) + c Delta_mu^2, one derivative after the other."""
    result = mass * psi
    for mu in range(4):
        second = lambda v: each_site(v, lambda s: sum(hop(u, v, s, mu)) - 2 * v[s])  # noqa: B023, E731
        first = lambda v: each_site(v, lambda s: np.subtract(*hop(u, v, s, mu)) / 2)  # noqa: B023, E731
        result = result + spin(G[mu], first(psi - b * second(psi))) + c * second(second(psi))
    return result


def brillouin(u, psi, mass):
    """Stencils of arXiv:1012.3615, links averaged over the orders of the steps."""
    gradient = {1: 64, 2: 16, 3: 4, 4: 1}
    laplacian = {0: -240, 1: 8, 2: 4, 3: 2, 4: 1}

    def transported(site, corner):
        steps = [mu for mu in range(4) if corner[mu]]
        paths = list(itertools.permutations(steps))
        total = np.zeros_like(psi[site])
        for path in paths:
            here, product = site, np.eye(3)
            for mu in path:
                there, phase = at(here, mu, corner[mu])
                link = u[(*here, mu)] if corner[mu] > 0 else u[(*there, mu)].conj().T
                here, product = there, phase * product @ link
            total = total + np.einsum("ab,...b->...a", product, psi[here]) / len(paths)
        return total

    def at_site(site):
        result = mass * psi[site]
        for corner in itertools.product((-1, 0, 1), repeat=4):
            k = sum(map(abs, corner))
            matrix = -laplacian[k] / 128 * ONE
            if k:
                matrix = matrix + gradient[k] / 432 * sum(c * g for c, g in zip(corner, G, strict=True))
            result = result + spin(matrix, transported(site, corner))
        return result

    return each_site(psi, at_site)


def laplace(u, psi, dimensions):
    return each_site(psi, lambda s: sum(sum(hop(u, psi, s, mu)) - 2 * psi[s] for mu in range(dimensions)))


def naive(u, psi, mass, mu):
    """Naive fermions: m + sum_nu gamma_nu (e^mu U - e^-mu U^+)/2, mu for nu = t alone (PLB 125 (1983) 308)."""

    def at_site(site):
        result = mass * psi[site]
        for nu in range(4):
            forward, backward = hop(u, psi, site, nu)
            weight = np.exp(mu) if nu == 3 else 1
            result = result + 0.5 * spin(G[nu], weight * forward - backward / weight)
        return result

    return each_site(psi, at_site)


def _wilson(f, psi, p):
    return wilson(f["u"], psi, p["mass"], p["xi0"], p["nu"])


def _clover(f, psi, p):
    return _wilson(f, psi, p) + clover_term(f["u"], psi, p["csw_r"] / p["xi0"], p["csw_t"])


def _fat_and_long(f, psi, p):
    return stag(f["fat"], psi, p["mass"], [3, 0, 1, 2], f["long"])


REFERENCES = {
    "wilson": _wilson,
    "clover": _clover,
    "twisted_mass": lambda f, psi, p: twisted(f["u"], psi, _wilson(f, psi, p), p["mu"]),
    "twisted_doublet": lambda f, psi, p: twisted(f["u"], psi, _wilson(f, psi, p), p["mu"], p["epsilon"]),
    "twisted_clover": lambda f, psi, p: twisted(f["u"], psi, _clover(f, psi, p), p["mu"]),
    "twisted_clover_doublet": lambda f, psi, p: twisted(f["u"], psi, _clover(f, psi, p), p["mu"], p["epsilon"]),
    "staggered": lambda f, psi, p: stag(f["u"], psi, p["mass"], [0, 1, 2, 3]),
    **dict.fromkeys(("improved_staggered", "asqtad", "hisq"), _fat_and_long),
    "moebius": lambda f, psi, p: domain_wall(f["u"], psi, p["mass"], p["m5"], p["b5"], p["c5"], p["xi0"], p["nu"]),
    "domain_wall": lambda f, psi, p: domain_wall(f["u"], psi, p["mass"], p["m5"], 1, 0, p["xi0"], p["nu"]),
    "naive": lambda f, psi, p: naive(f["u"], psi, p["mass"], p["mu"]),
    "brillouin": lambda f, psi, p: brillouin(f["u"], psi, p["mass"]),
    "d234": lambda f, psi, p: d234(f["u"], psi, p["mass"], p["b"], p["c"]),
    "laplace3": lambda f, psi, p: laplace(f["u"], psi, 3),
    "laplace4": lambda f, psi, p: laplace(f["u"], psi, 4),
}
"""What papers have: a check beside those that follow from any statement. Actions without an entry do without it."""
