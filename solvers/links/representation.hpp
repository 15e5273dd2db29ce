/// \file
/// Links in other representations of SU(N) than the fundamental one (generator/algebra/representation.py).
#pragma once

#include <memory>
#include <string_view>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// Representation of quarks; symmetric and antisymmetric are tensors with two indices.
enum class Representation { fundamental, adjoint, symmetric, antisymmetric };
inline constexpr std::string_view representation_names[] = {"fundamental", "adjoint", "symmetric", "antisymmetric"};
inline std::string_view name_of(Representation r) { return representation_names[int(r)]; }
/// \throws UnknownName there is none of that name.
Representation representation_of(std::string_view name);
/// Dimension of a representation of SU(n): the number of colours of quarks.
int dimension(Representation r, int n);

/// Links R(U) in double with all reals; `links` themselves for the fundamental representation.
/// \throws UsageError the dimension is larger than fields support; MissingKernel the build lacks the kernel.
std::shared_ptr<const LinkField> represented(std::shared_ptr<const LinkField> links, Representation r);
/// out += f, the force on links U, given z, the force on links R(U): <P, f> = <r(P), z> for all P of the algebra, r(P)
/// = dR(exp(tP))/dt, <A, B> = Re tr A^+ B.
void take_back(const LinkField& z, Representation r, LinkField& out);

}  // namespace quarksmith
