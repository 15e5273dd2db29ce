/// \file
/// Where several expressions are evaluated in a row with one exchange between ranks.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/fields/link_field.hpp"

namespace quarksmith {

/// A lattice as it is; of a part of one, the part with a border so deep that a chain of expressions needs no other
/// exchange: sites of the border are computed twice, by two ranks. Fields between the steps are fields of its domain.
class Enclosure {
 public:
  /// \param depth how far the chain reads its inputs beyond what it writes.
  /// \throws WrongLattice a part is shorter than that; the message names `what`.
  Enclosure(const DomainPointer& domain, const BorderDepth& depth, std::string_view what);

  const DomainPointer& domain() const { return domain_; }
  /// Whether expressions that read fields of the domain beyond their sites find all others on the lattice itself.
  bool keeps_sites_at_home() const;
  /// Links with their border, which is fetched if they have changed since. Collective. They keep the copy.
  const LinkField& read(const LinkField& links) const;
  /// The same for links that go soon: into a field of the domain. \return that, or the links of a whole lattice.
  const LinkField& read(const LinkField& links, LinkField& copy) const;
  /// Links that go soon with their border, to be worked on where they are: in the domain, if they can lie there; else
  /// null. Collective.
  LinkField* taken_in(LinkField& links) const;
  /// Where results are to be written, and back from there; with what the links held if `keep`.
  LinkField& write(LinkField& links, bool keep) const;
  void written(LinkField& links) const;
  /// The same, with what they hold, for links that expressions read and write at their own sites alone while they read
  /// fields of the domain elsewhere: GPUs take them where they are.
  LinkField& add_to(LinkField& links) const;
  void added_to(LinkField& links) const;
  /// The sites of a part from a field of the domain.
  void cut(const LinkField& from, LinkField& links) const;

 private:
  DomainPointer domain_;
  const BorderedPart* part_;
};

}  // namespace quarksmith
