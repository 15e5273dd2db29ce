/// \file
/// A chain of lattice expressions with one exchange between ranks.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/fields/link_field.hpp"

namespace quarksmith {

/// The lattice for a chain of expressions: the domain itself, or on several ranks a padded lattice whose halo is so
/// deep that the chain needs only one halo exchange (two ranks then compute the sites in the halo). Intermediate fields
/// are on its domain.
class Enclosure {
 public:
  /// \param depth how far the chain reads its inputs beyond its outputs.
  /// \throws WrongLattice the local lattice is shorter; the message names `what`.
  Enclosure(const DomainPointer& domain, const BorderDepth& depth, std::string_view what);

  const DomainPointer& domain() const { return domain_; }
  /// Whether fields that expressions access only at the site itself stay on the local lattice (PaddedLattice).
  bool keeps_sites_at_home() const;
  /// The links with their halo, exchanged again if they have changed. The copy belongs to the links. Collective.
  const LinkField& read(const LinkField& links) const;
  /// As read, for temporary links: copies them into `copy`, a field of the domain.
  /// \return `copy`, or the links on one rank.
  const LinkField& read(const LinkField& links, LinkField& copy) const;
  /// Moves temporary links with their halo into the domain, to be worked on in place; null if that is not possible.
  /// Collective.
  LinkField* taken_in(LinkField& links) const;
  /// Memory for results on the domain, with the content of the links if `keep`; written() copies the results back.
  LinkField& write(LinkField& links, bool keep) const;
  void written(LinkField& links) const;
  /// As write with `keep`, then written, for links that are accessed only at the site itself: GPUs use them in place.
  LinkField& add_to(LinkField& links) const;
  void added_to(LinkField& links) const;
  /// Copies the local sites of a field of the domain.
  void cut(const LinkField& from, LinkField& links) const;

 private:
  DomainPointer domain_;
  const PaddedLattice* padded_;
};

}  // namespace quarksmith
