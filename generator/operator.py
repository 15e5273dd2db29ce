"""What the generator asks of an operator: a record carries its own, and no stage looks it up or tells kinds apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from generator.algebra.su3 import Storage
    from generator.cost import Cost
    from generator.lower.hopping import HoppingForm
    from generator.lower.hops import Hop
    from generator.site_term import SiteTerm
    from generator.spec import KernelSpec


class Operator:
    """Base of all kinds: each states what it is, and what differs from the defaults here.

    Operators are the same only if they are one object.
    """

    if TYPE_CHECKING:  # fields, properties or members of the kinds

        @property
        def name(self) -> str: ...
        @property
        def family(self) -> str: ...  # hopping, slices, update, expression, links, ...: its tests and host code
        @property
        def group(self) -> str: ...  # kernels of one group and precision share a translation unit
        @property
        def formula(self) -> str: ...  # what it computes, in one line
        @property
        def template(self) -> str: ...  # file that renders the body; empty if the body is in runtime/
        @property
        def axes(self) -> tuple[str, ...]: ...  # axes of the record that apply
        @property
        def shared_body(self) -> str: ...  # name of a body that is also that of others; empty for its own
        @property
        def headers(self) -> Sequence[str]: ...  # of runtime/kernels, which its body needs besides the usual ones
        @property
        def spins(self) -> int: ...  # colour vectors of a site; 0 if records choose, or there are none
        @property
        def is_dirac(self) -> bool: ...  # whether methods solve with it
        @property
        def sums(self) -> int: ...  # real numbers that it adds up
        @property
        def own_sums(self) -> str: ...  # C++ template around the body, if sums are not left to the target
        @property
        def slots(self) -> Sequence[str]: ...  # scalars on the device that it reads or writes
        @property
        def scalar_program(self) -> str: ...  # its scalar program
        @property
        def complex_scalars(self) -> bool: ...
        @property
        def signature(self) -> str: ...  # fields and numbers of a call
        @property
        def fields(self) -> int: ...  # of an element-wise kernel; else 0
        @property
        def parities(self) -> int: ...  # whose sites a launch works on
        @property
        def min_blocks(self) -> int: ...  # blocks of threads that registers are to suffice for; 0 for one
        @property
        def terms(self) -> int: ...  # stored site terms that it applies
        @property
        def of_three_colours(self) -> str: ...  # what of it knows no other number of colours; empty if it does
        @property
        def names_colours(self) -> bool: ...  # whether the text of its body depends on their number
        @property
        def form(self) -> HoppingForm: ...  # of hopping terms alone, as what follows
        @property
        def site_term(self) -> SiteTerm: ...
        @property
        def reach(self) -> int: ...  # sites of the longest hop
        @property
        def hops_of(self) -> Operator | None: ...  # the operator whose hops these are; None for its own
        def storage(self, spec: KernelSpec, hop: Hop) -> Storage: ...  # of the link of a hop
        def arguments(self, spec: KernelSpec) -> list[str]: ...  # C++ template arguments of a row
        def cost(self, spec: KernelSpec) -> Cost: ...
    else:
        shared_body = scalar_program = signature = own_sums = of_three_colours = ""
        names_colours = False
        headers = slots = ()
        spins = sums = fields = min_blocks = terms = reach = 0
        is_dirac = complex_scalars = False
        hops_of = None
        parities = 1

    @property
    def all_axes(self) -> tuple[str, ...]:
        """Those of the record: what has links takes their colours."""
        return self.axes if "links" in self.axes else (*self.axes, "colours")

    def body(self, spec: KernelSpec) -> dict[str, Any]:
        """Data of the template; nothing where the body is in runtime/."""
        return {}

    def cpp_body(self, spec: KernelSpec) -> str:
        """C++ template that the kernel of a record instantiates."""
        return f"{spec.body}_body"

    def most_tile(self, spec: KernelSpec) -> int:
        """Right-hand sides of a tile on GPUs at most: there batches share links whatever the tile."""
        return 1

    def hops(self, spec: KernelSpec) -> Sequence[Hop]:
        """The neighbours of a hopping term, in the order of emission."""
        return ()

    def stored_terms(self, spec: KernelSpec) -> int:
        """Stored site terms that the kernel of a record reads."""
        return self.terms

    def more_storages(self, spec: KernelSpec) -> Sequence[str]:
        """Link storages that its body names beside that of the record and of all elements."""
        return ()

    def call(self) -> dict[str, Any]:
        """Data of a typed C++ call (templates/call.hpp.j2), empty if there is none."""
        return {}
