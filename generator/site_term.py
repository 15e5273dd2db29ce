"""Site terms: the part T of M = T - D/2 that does not hop, as the epilogues of hopping terms apply it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from .algebra.gamma import DEGRAND_ROSSI, Basis
from .cost import COLOUR_REALS, combination_flops
from .lower.site import SiteForm

TERM_REALS = 72
"""Two Hermitian 6x6 blocks of a stored term, in the frame where gamma_5 is diagonal."""
TERM_FLOPS = 504
"""Two 6x6 products: 36 real diagonal and 60 complex off-diagonal multiplications, 60 complex additions each twice."""
TERM_REPORTED = 552
"""Flops of a clover term as lattice codes report them."""


@dataclass(frozen=True)
class SiteTerm:
    """One kind of T.

    Attributes:
        name: kernels that apply T^-1 alone are called `apply_` and this.
        formula: T up to a factor, and how the numbers of a call (runtime/kernels/arguments.hpp) give it.
        types: C++ templates of T and T^-1 (runtime/kernels/term.hpp, runtime/kernels/twist.hpp).
        stored: fields of two Hermitian blocks that T and T^-1 read; 0 for terms made of numbers.
        twisted: T has a part i mu gamma_5.
        flavours: right-hand sides that T mixes, which a kernel finishes together.
        dense: T is any constant matrix in flavour and spin, given when it runs.
    """

    name: str
    formula: str
    types: tuple[str, str]
    stored: tuple[int, int]
    twisted: bool = False
    flavours: int = 1
    dense: bool = False

    def flops(self, basis: Basis | None, *, inverse: bool) -> int:
        """Counted from what is emitted, for one flavour; rotations to the frame of stored terms are not counted."""
        stored = self.stored[inverse]
        turn = DEGRAND_ROSSI if stored else basis
        assert turn is not None
        added = 2 * COLOUR_REALS * len(turn.gamma5)  # a real number times a spinor, added
        if self.dense:
            return 4 * COLOUR_REALS * len(turn.gamma5) ** 2 * self.flavours
        twist = added + _times_i_gamma5(turn)
        return TERM_FLOPS * stored + twist * self.twisted + added * (self.flavours - 1)

    def reported(self, basis: Basis | None, *, inverse: bool) -> int:
        """Reported flops: for a clover term as lattice codes report them, for others derived from the formula."""
        return self.flops(basis, inverse=inverse) if self.twisted or self.dense else TERM_REPORTED

    def reals(self, *, inverse: bool) -> int:
        """Stored reals that a site reads."""
        return TERM_REALS * self.stored[inverse]


@cache
def _times_i_gamma5(basis: Basis) -> int:
    return sum(combination_flops(1j * row, first=True) for row in np.asarray(basis.gamma5))


CLOVER = SiteTerm(
    name="term",
    formula="T a stored term",
    types=("StoredTerm<{codec}, {frame}>", "StoredTerm<{codec}, {frame}>"),
    stored=(1, 1),
)
"""Two Hermitian blocks: the clover term and others that are made of fields (operators/blocks.py), with the inverse."""

TWIST = SiteTerm(
    name="twist",
    formula="T = 1 + i c gamma_5, for T^-1 with -c",
    types=("Twist<{frame}, 1>", "Twist<{frame}, 1>"),
    stored=(0, 0),
    twisted=True,
)
"""T = t + i mu gamma_5 = t (1 + i c gamma_5), c = mu/t; T^-1 = t (1 - i c gamma_5) / (t^2 + mu^2)."""

DOUBLET_TWIST = replace(
    TWIST,
    name="doublet_twist",
    formula="T = 1 + i c gamma_5 tau_3 + e tau_1, for T^-1 with -c and -e; c and e are the parts of a.c",
    types=("Twist<{frame}, 2>", "Twist<{frame}, 2>"),
    flavours=2,
)
"""T = t + i mu gamma_5 tau_3 + epsilon tau_1, T^-1 = (t - i mu gamma_5 tau_3 - epsilon tau_1)/(t^2 + mu^2 - epsilon^2)
(R. Frezzotti and G. C. Rossi, hep-lat/0311008); tau act on flavours, consecutive right-hand sides."""

TWISTED_TERM = SiteTerm(
    name="twisted_term",
    formula="T = C + i c gamma_5; T^-1 = A + i c gamma_5 B, A = C B, B = (C^2 + mu^2)^-1",
    types=("TwistedTerm<{codec}, {frame}, 1, false>", "TwistedTerm<{codec}, {frame}, 1, true>"),
    stored=(1, 2),
    twisted=True,
)
"""C the clover term with the mass, which commutes with gamma_5; (C + i mu gamma_5)^-1 = (C - i mu gamma_5)/(C^2 + mu^2)
is stored as the Hermitian fields A and B."""

DOUBLET_TWISTED_TERM = replace(
    TWISTED_TERM,
    name="doublet_twisted_term",
    formula="T = C + i c gamma_5 tau_3 + e tau_1; T^-1 = A + (i c gamma_5 tau_3 + e tau_1) B, "
    "A = C B, B = (C^2 + mu^2 - epsilon^2)^-1",
    types=("TwistedTerm<{codec}, {frame}, 2, false>", "TwistedTerm<{codec}, {frame}, 2, true>"),
    flavours=2,
)
"""The same for two flavours: C commutes with the tau, too."""

MATRIX = SiteTerm(
    name="matrix",
    formula="T any constant matrix in spin, a.matrix; T^-1 likewise, inverted by the host",
    types=("SpinMatrix<{frame}, 1>", "SpinMatrix<{frame}, 1>"),
    stored=(0, 0),
    dense=True,
)

DOUBLET_MATRIX = replace(
    MATRIX,
    name="doublet_matrix",
    formula="T any constant matrix in flavour and spin, a.matrix; T^-1 likewise, inverted by the host",
    types=("SpinMatrix<{frame}, 2>", "SpinMatrix<{frame}, 2>"),
    flavours=2,
)

SITE_TERMS = (CLOVER, TWIST, DOUBLET_TWIST, TWISTED_TERM, DOUBLET_TWISTED_TERM, MATRIX, DOUBLET_MATRIX)
"""All kinds of site terms."""


def site_term_of(form: SiteForm) -> SiteTerm:
    """The kind of T that a statement has; a number alone is no site term, and those of links serve for it."""
    if form.is_general:
        return DOUBLET_MATRIX if form.flavours > 1 else MATRIX
    wanted = int(form.stored), form.twisted, form.flavours
    known = (t for t in SITE_TERMS if not t.dense)
    return next((t for t in known if (t.stored[0], t.twisted, t.flavours) == wanted), CLOVER)
