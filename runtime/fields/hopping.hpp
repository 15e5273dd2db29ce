/// \file
/// Hopping terms of a lattice, whole or spread over ranks.
#pragma once

#include "runtime/fields/link_field.hpp"
#include "runtime/ranks/halo.hpp"

namespace quarksmith {

/// The links of a hopping kernel: those of hops over one site, and of longer ones if it has any.
struct HoppingLinks {
  const LinkField* links;
  const LinkField* long_links = nullptr;
  HoppingLinks(const LinkField& one) : links(&one) {}
  HoppingLinks(const LinkField& one, const LinkField& three) : links(&one), long_links(&three) {}
  /// Links of the neighbouring ranks behind, exchanged if the links have changed. Collective.
  LinkGhosts ghosts() const;
};

/// Applies a hopping kernel on a domain, with halo exchange if the lattice is divided among ranks.
/// \throws UsageError the domain is made for shorter hops.
void apply_hopping(const Domain& domain, const Kernel& kernel, const Arguments& arguments, const HoppingLinks& links);

}  // namespace quarksmith
