/// \file
/// Gauge-covariant smearing of quark fields in space, on the stored links, boundary phases left out.
#pragma once

#include <memory>
#include <string>

#include "runtime/fields/field.hpp"

namespace quarksmith {

/// psi -> (1 + w^2/(4N) Laplace)^N psi with the covariant Laplace operator of three dimensions on the stored links,
/// boundary phases left out (S. Guesken et al., Phys. Lett. B 227 (1989) 266; the form of Chroma's GAUGE_INV_GAUSSIAN).
class GaussianSmearing {
 public:
  /// \param links double precision.
  /// \throws UsageError width not positive, no steps, or the build lacks the kernel laplace3_axpby_double.
  GaussianSmearing(std::shared_ptr<const LinkField> links, double width, int steps);

  /// Smears a field of double precision on all sites, in any basis; `work` is a field of the same kind.
  void apply(SpinorField& psi, SpinorField& work) const;

 private:
  std::shared_ptr<const LinkField> links_;
  const Kernel* kernel_;
  double width_;
  int steps_;
};

/// How a quark field is smeared.
struct QuarkSmearing {
  enum class Kind { none, gaussian, jacobi, wuppertal } kind = Kind::none;
  double strength = 0;  ///< width of gaussian, kappa of jacobi, alpha of wuppertal
  int steps = 0;
  double norm = 1;  ///< jacobi divides by it
};
/// `gaussian:w,N`, `jacobi:kappa,N[,norm]` or `wuppertal:alpha,N`.
/// \throws UsageError any other text.
QuarkSmearing quark_smearing_of(const std::string& text);

/// Smears a field of double precision on all sites, in any basis. With h psi = sum over space of U_mu(x) psi(x+mu) +
/// U_mu(x-mu)^+ psi(x-mu):
///
/// jacobi (C. R. Allton et al., Phys. Rev. D 47 (1993) 5128): chi = s; N times chi = s + kappa h chi; then chi / norm.
/// wuppertal (S. Guesken et al., Phys. Lett. B 227 (1989) 266): N times psi = (psi + alpha h psi) / (1 + 6 alpha).
/// \param links double precision.
/// \throws UsageError the build lacks a kernel.
void smear(const QuarkSmearing& how, const std::shared_ptr<const LinkField>& links, SpinorField& psi);

}  // namespace quarksmith
