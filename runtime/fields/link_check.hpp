/// \file
/// Links on a device: checks without a copy on the host, and copies among domains.
#pragma once

#include <initializer_list>
#include <memory>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// A bound of the deviations of links from SU(N), those of `Unitarity`, found on the device; infinite where it finds
/// none: links are not finite, or the build lacks a kernel for it. Collective. \param links in double with all reals.
double bound_of_deviation(const LinkField& links);
/// Whether that is so small that they are SU(N), without a phase that is to be looked for.
inline bool surely_su3(double bound) { return bound < 5e-6; }

/// The largest difference of links at a site, over all ranks, and the root of the sum of its squares, as matrices;
/// infinite where the device does not find them. \param a work space, too. \param b of its domain; both with all reals
/// in double.
struct LinkDifference {
  double largest, whole;
};
LinkDifference difference_of(LinkField a, const LinkField& b);

/// The same links for kernels of another domain of this lattice and device; themselves if it is theirs.
/// \param links in double with all reals.
std::shared_ptr<const LinkField> links_on(const DomainPointer& domain, std::shared_ptr<const LinkField> links);

/// Whether they are one real number times unitary matrices, as is_multiple_of_unitary of links of the host. Collective.
bool is_multiple_of_unitary(const LinkField& links);

/// Whether a build has all these kernels of links.
bool has_kernels(const Device& device, std::initializer_list<const char*> kernels);

/// Multiplies the links across the last slice of a direction of the whole lattice. \param links as of links_on.
void multiply_across(LinkField& links, int mu, Complex64 phase);

}  // namespace quarksmith
