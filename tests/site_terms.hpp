/// \file
/// The site terms of kernels: as they are stored, and as dense matrices.
#pragma once

#include <optional>

#include "solvers/actions/stored_term.hpp"
#include "tests/dense.hpp"
#include "tests/support.hpp"

namespace support {

using reference::operator*;

/// The clover term with c_sw of planes in space and with time.
inline ActionValues clover_values(double space, double time, double diagonal) {
  return {find_action("clover"), {{"mass", diagonal - 4}, {"csw_r", space}, {"csw_t", time}}};
}
inline StoredTerm clover_term(const HostGauge& gauge, const DomainPointer& domain, double space, double time,
                              double diagonal, std::string_view precision = "double",
                              std::optional<double> shift = {}) {
  const ActionValues values = clover_values(space, time, diagonal);
  const ActionFields fields(values, {}, LinkStore(gauge, domain, "r18", "non_relativistic"));
  return {values, fields.in_double(), find_precision(precision), shift};
}

/// A term C + i c gamma_5 tau_3 + e tau_1, or A + (i c gamma_5 tau_3 + e tau_1) B, or any constant matrix, with which a
/// kernel is tested; the tau of two flavours, which are consecutive right-hand sides.
class TestTerm {
 public:
  /// \param kernel a hopping kernel or one that applies T^-1.
  TestTerm(const Kernel& kernel, const HostGauge& gauge, const DomainPointer& domain)
      : inverse_(kernel.epilogue == "tinv" || kernel.epilogue == "axpby_tinv" || kernel.family == "term"),
        twisted_(contains(kernel, "twist")),
        flavours_(contains(kernel, "doublet") ? 2 : 1),
        basis_(find_basis(kernel.basis.empty() ? "degrand_rossi" : kernel.basis)) {
    if (kernel.family == "hopping" && kernel.epilogue != "taxpby" && !inverse_) {
      applies_ = false;
      return;
    }
    bool matrix = contains(kernel, "matrix");
    for (const ActionInfo& info : actions())
      if (info.with_term == kernel.operation && !info.constant.empty()) matrix = true, flavours_ = info.flavours;
    if (matrix) make_matrix(kernel, domain->device_pointer());
    if (kernel.terms == 0) return;
    const PrecisionInfo& precision = find_precision(find_precision(kernel.precision).links);
    const StoredTerm clover =
        clover_term(gauge, domain, 0.9, 1.1, 4.3, "double", twisted_ ? std::optional(0.4) : std::nullopt);
    first_.emplace(encode_term(inverse_ ? clover.inverse() : clover.term(), precision));
    dense_first_ = whole_term(download(decode_term(*first_)));
    if (kernel.terms == 1) return;
    second_.emplace(encode_term(clover.factor(), precision));
    dense_second_ = whole_term(download(decode_term(*second_)));
  }

  bool applies() const { return applies_; }
  bool inverse() const { return inverse_; }
  int flavours() const { return applies_ ? flavours_ : 1; }

  /// Gives a kernel the term, whose scale goes to a.a or, for the inverse, to a.b.
  void set(Arguments& a) const {
    if (!applies_) return;
    a.matrix = matrix_.data();
    const double scale = first_ ? first_->scale() : 1;
    if (first_) a.term = first_->operand();
    if (second_) a.twist = second_->operand();
    (inverse_ ? a.b : a.a).re = scale * (inverse_ ? a.b : a.a).re.d;
    a.c.re = c / scale * (second_ ? second_->scale() : 1);
    a.c.im = e / scale * (second_ ? second_->scale() : 1);
  }

  /// The term times all flavours, densely.
  std::vector<HostSpinor> multiply(const std::vector<HostSpinor>& psi) const {
    if (!elements_.empty()) return multiply_matrix(psi);
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
  /// Random elements in the basis of the kernel, flavour outside spin.
  void make_matrix(const Kernel& kernel, const std::shared_ptr<Device>& device) {
    const int size = 4 * flavours_;
    std::vector<double> numbers;
    for (int n = 0; n < size * size; ++n) {
      elements_.emplace_back(0.1 * (n % 11) - 0.4, 0.07 * (n % 13) - 0.5);
      numbers.insert(numbers.end(), {elements_.back().real(), elements_.back().imag()});
    }
    const bool wide = find_precision(kernel.precision).element_bytes == 8;
    const std::vector<float> low(numbers.begin(), numbers.end());
    matrix_ = Memory(device, numbers.size() * (wide ? sizeof(double) : sizeof(float)));
    device->upload(matrix_.data(), wide ? static_cast<const void*>(numbers.data()) : low.data(), matrix_.bytes());
  }
  std::vector<HostSpinor> multiply_matrix(const std::vector<HostSpinor>& psi) const {
    const int size = 4 * flavours_;
    reference::SpinMatrix v;
    for (int n = 0; n < 16; ++n) v[n / 4][n % 4] = {basis_.rotation[2 * n], basis_.rotation[2 * n + 1]};
    std::vector<HostSpinor> turned, out(psi.size(), HostSpinor(psi[0].lattice));
    for (const HostSpinor& one : psi) turned.push_back(reference::multiply(v, one));
    for (std::size_t x = 0; x < turned[0].site.size(); ++x)
      for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j)
          for (int c = 0; c < 3; ++c)
            out[i / 4].site[x][3 * (i % 4) + c] += elements_[size * i + j] * turned[j / 4].site[x][3 * (j % 4) + c];
    for (HostSpinor& one : out) one = reference::multiply(reference::adjoint(v), one);
    return out;
  }

  bool applies_ = true, inverse_, twisted_;
  int flavours_;
  const BasisInfo& basis_;
  Memory matrix_;
  std::vector<Complex64> elements_;  // of a matrix
  std::optional<TermField> first_, second_;
  reference::SiteMatrices dense_first_, dense_second_;
};

}  // namespace support
