/// \file
/// A chain of lattice expressions with one exchange between ranks.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/fields/link_field.hpp"

namespace quarksmith {

/// The lattice for a chain of expressions: the domain itself, or on several ranks a padded lattice with a border so
/// deep that the chain needs only one exchange (sites of the border are computed twice, by two ranks). Fields between
/// the steps live on its domain.
class Enclosure {
 public:
  /// \param depth how far the chain reads its inputs beyond its outputs.
  /// \throws WrongLattice the local lattice is shorter; the message names `what`.
  Enclosure(const DomainPointer& domain, const BorderDepth& depth, std::string_view what);

  const DomainPointer& domain() const { return domain_; }
  /// Whether fields that expressions access at the site itself stay on the local lattice (PaddedLattice).
  bool keeps_sites_at_home() const;
  /// The links with their border, refetched if they have changed. The copy stays with them. Collective.
  const LinkField& read(const LinkField& links) const;
  /// As read, for links that are soon gone: into `copy`, a field of the domain.
  /// \return `copy`, or the links on one rank.
  const LinkField& read(const LinkField& links, LinkField& copy) const;
  /// Temporary links with their border, moved into the domain to be worked on in place; null if they cannot lie there.
  /// Collective.
  LinkField* taken_in(LinkField& links) const;
  /// Memory for results on the domain, with what the links held if `keep`; written() copies back.
  LinkField& write(LinkField& links, bool keep) const;
  void written(LinkField& links) const;
  /// As write (with what the links hold) and written, for links that are accessed at the site itself only: GPUs use
  /// them in place.
  LinkField& add_to(LinkField& links) const;
  void added_to(LinkField& links) const;
  /// Copies the local sites of a field of the domain.
  void cut(const LinkField& from, LinkField& links) const;

 private:
  DomainPointer domain_;
  const PaddedLattice* padded_;
};

}  // namespace quarksmith
