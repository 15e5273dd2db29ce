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
/// Colours of quarks in it, of links of n colours.
int dimension(Representation r, int n);

/// R(U) of links in double with all reals; `links` themselves if it is the fundamental one.
/// \throws UsageError it has more colours than fields may have; MissingKernel the build lacks the kernel.
std::shared_ptr<const LinkField> represented(std::shared_ptr<const LinkField> links, Representation r);
/// out += the force on links, given z, that on links R(U): <r(P), z> = <P, what is added> for all P of the algebra,
/// r(P) = dR(exp(tP))/dt, <A, B> = Re tr A^+ B.
void take_back(const LinkField& z, Representation r, LinkField& out);

}  // namespace quarksmith
