/// \file
/// The site terms of kernels: as they are stored, and as dense matrices.
#pragma once

#include <optional>

#include "solvers/actions/clover.hpp"
#include "tests/reference/reference.hpp"
#include "tests/support.hpp"

namespace support {

using reference::operator*;

/// A term C + i c gamma_5 tau_3 + e tau_1, or A + (i c gamma_5 tau_3 + e tau_1) B, with which a kernel is tested; the
/// tau of two flavours, which are consecutive right-hand sides.
class TestTerm {
 public:
  /// \param kernel a hopping kernel or one that applies T^-1.
  TestTerm(const Kernel& kernel, const HostGauge& gauge, const DomainPointer& domain)
      : inverse_(kernel.epilogue == "tinv" || kernel.epilogue == "axpby_tinv" || kernel.family == "term"),
        twisted_(contains(kernel, "twist")),
        flavours_(contains(kernel, "doublet") ? 2 : 1) {
    if (kernel.family == "hopping" && kernel.epilogue != "taxpby" && !inverse_) {
      applies_ = false;
      return;
    }
    if (kernel.terms == 0) return;
    const PrecisionInfo& precision = find_precision(find_precision(kernel.precision).links);
    const LinkField plain = upload(gauge, domain, find_precision("double"), find_storage("r18"));
    const CloverTerm clover(plain, 0.9, 1.1, 4.3, precision, twisted_ ? std::optional(0.4) : std::nullopt);
    first_.emplace(encode_term(decode_term(inverse_ ? clover.inverse() : clover.term()), precision));
    dense_first_ = whole_term(download(decode_term(*first_)));
    if (kernel.terms == 1) return;
    second_.emplace(encode_term(decode_term(clover.factor()), precision));
    dense_second_ = whole_term(download(decode_term(*second_)));
  }

  bool applies() const { return applies_; }
  bool inverse() const { return inverse_; }
  int flavours() const { return applies_ ? flavours_ : 1; }

  /// Gives a kernel the term, whose scale goes to a.a or, for the inverse, to a.b.
  void set(Arguments& a) const {
    if (!applies_) return;
    const double scale = first_ ? first_->scale() : 1;
    if (first_) a.term = first_->operand();
    if (second_) a.twist = second_->operand();
    (inverse_ ? a.b : a.a).re = scale * (inverse_ ? a.b : a.a).re.d;
    a.c.re = c / scale * (second_ ? second_->scale() : 1);
    a.c.im = e / scale * (second_ ? second_->scale() : 1);
  }

  /// The term times all flavours, densely.
  std::vector<HostSpinor> multiply(const std::vector<HostSpinor>& psi) const {
    std::vector<HostSpinor> out, turned;
    for (const HostSpinor& one : psi) {
      out.push_back(first_ ? reference::multiply(dense_first_, one) : one);
      turned.push_back(second_ ? reference::multiply(dense_second_, one) : one);
    }
    if (!twisted_) return out;
    for (int f = 0; f < int(psi.size()); ++f) {
      const Complex64 ic(0, f == 0 ? c : -c);
      out[f] = reference::combine(1, out[f], ic, reference::multiply(reference::gamma5(), turned[f]));
      if (flavours_ == 2) out[f] = reference::combine(1, out[f], e, turned[1 - f]);
    }
    return out;
  }

 private:
  static constexpr double c = 0.7, e = -0.45;
  static bool contains(const Kernel& kernel, std::string_view word) {
    return kernel.operation.find(word) != std::string_view::npos;
  }

  bool applies_ = true, inverse_, twisted_;
  int flavours_;
  std::optional<TermField> first_, second_;
  reference::SiteMatrices dense_first_, dense_second_;
};

}  // namespace support
