#include "solvers/actions/site_term.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/error.hpp"
#include "solvers/krylov/dense.hpp"

namespace quarksmith {
namespace {

constexpr int spins = 4;

/// V of gamma = V gamma_DeGrandRossi V^+ for each flavour.
Dense rotation(const BasisInfo& basis, int flavours) {
  Dense v = Dense::Zero(spins * flavours, spins * flavours);
  for (int f = 0; f < flavours; ++f)
    for (int i = 0; i < spins; ++i)
      for (int j = 0; j < spins; ++j) {
        const double* z = basis.rotation + 2 * (spins * i + j);
        v(spins * f + i, spins * f + j) = {z[0], z[1]};
      }
  return v;
}

Dense constant_of(const ActionValues& values, const BasisInfo& basis) {
  const int flavours = values.info().flavours;
  Dense t = Dense::Zero(spins * flavours, spins * flavours);
  for (const ConstantPart& part : values.info().constant) {
    const Complex64 number = values.complex(part.number);
    for (const auto& e : part.elements) t(e.row, e.column) += number * e.value;
  }
  const Dense v = rotation(basis, flavours);
  return v * t * v.adjoint();
}

template <class T>
Memory store_as(const Dense& m, const std::shared_ptr<Device>& device) {
  std::vector<T> numbers;
  for (const Complex64& z : m.reshaped<Eigen::RowMajor>()) {
    numbers.push_back(static_cast<T>(z.real()));
    numbers.push_back(static_cast<T>(z.imag()));
  }
  Memory memory(device, numbers.size() * sizeof(T));
  device->upload(memory.data(), numbers.data(), memory.bytes());
  return memory;
}

bool is_twisted(const ActionValues& values) {
  return values(values.info().twist) != 0 || (values.info().flavours > 1 && values.info().constant.empty());
}

}  // namespace

std::optional<double> SiteTerm::shift_of(const ActionValues& values) {
  if (!is_twisted(values)) return {};
  const double mu = values(values.info().twist), epsilon = values(values.info().splitting);
  return mu * mu - epsilon * epsilon;
}

bool SiteTerm::has_inverse(const ActionValues& values) {
  if (StoredTerm::is_part_of(values)) return true;
  if (!values.info().constant.empty()) return inverse_of(constant_of(values, find_basis("degrand_rossi"))).has_value();
  const double diagonal = values(values.info().diagonal);
  return diagonal != 0 && diagonal * diagonal + shift_of(values).value_or(0) != 0;
}

SiteTerm::SiteTerm(const ActionValues& values, std::shared_ptr<const StoredTerm> stored, const DomainPointer& domain,
                   const PrecisionInfo& precision, const BasisInfo& basis)
    : diagonal_(values.info().chain.empty() ? values(values.info().diagonal) : 1),  // that of slices is another matter
      mu_(values(values.info().twist)),
      epsilon_(values(values.info().splitting)),
      size_(std::hypot(diagonal_, mu_)),
      flavours_(values.info().flavours),
      twisted_(is_twisted(values)),
      text_(values.text()),
      stored_(std::move(stored)) {
  if (!values.info().constant.empty()) {
    const Dense t = constant_of(values, basis);
    const auto inverse = inverse_of(t);
    invertible_ = inverse.has_value();
    const auto store = [&](const Dense& m) {
      return precision.element_bytes == 8 ? store_as<double>(m, domain->device_pointer())
                                          : store_as<float>(m, domain->device_pointer());
    };
    Matrix m{{store(t), store(t.adjoint())}, 0};
    if (inverse) {
      m.elements[2] = store(inverse->matrix);
      m.elements[3] = store(inverse->matrix.adjoint());
      m.log_det = inverse->log_det;
    }
    matrix_ = std::make_shared<const Matrix>(std::move(m));
    size_ = t.norm() / std::sqrt(double(t.rows()));
  } else if (stored_) {
    invertible_ = stored_->is_invertible();
    if (stored_->size() != 0) size_ = std::hypot(stored_->size(), mu_);
  } else {
    invertible_ = diagonal_ * diagonal_ + shift() != 0;
    if (twisted_ && diagonal_ == 0)  // kernels have it as a multiple of the diagonal
      throw UsageError(fmt::format(
          "{}: the diagonal of the Dirac operator vanishes beside a twisted mass; use another mass", text_));
  }
}

void SiteTerm::require_inverse() const {
  if (!invertible_)
    throw UsageError(
        fmt::format("{}: the part of the Dirac operator that does not hop is singular; use other values, or solve on "
                    "all sites (even-odd none)",
                    text_));
}

void SiteTerm::set(Arguments& a, double factor, Dagger dagger) const {
  if (matrix_) {
    a.a.re = factor;
    a.matrix = element(false, dagger);
    return;
  }
  const double scale = stored_ ? stored_->term().scale() : diagonal_;
  if (stored_) a.term = stored_->term().operand();
  a.a.re = factor * scale;
  a.c.re = (dagger == Dagger::yes ? -1 : 1) * mu_ / scale;
  a.c.im = epsilon_ / scale;
}

void SiteTerm::set_inverse(Arguments& a, double factor, Dagger dagger) const {
  require_inverse();
  const double sign = dagger == Dagger::yes ? -1 : 1;
  if (matrix_) {
    a.b.re = factor;
    a.matrix = element(true, dagger);
    return;
  }
  if (!stored_) {
    a.b.re = factor * diagonal_ / (diagonal_ * diagonal_ + shift());
    a.c.re = -sign * mu_ / diagonal_;
    a.c.im = -epsilon_ / diagonal_;
    return;
  }
  a.term = stored_->inverse().operand();
  a.b.re = factor * stored_->inverse().scale();
  if (!twisted_) return;
  a.twist = stored_->factor().operand();
  const double scale = stored_->factor().scale() / stored_->inverse().scale();
  a.c.re = -sign * mu_ * scale;
  a.c.im = -epsilon_ * scale;
}

bool SiteTerm::stands_alone() const { return matrix_ || (stored_ && !twisted_); }

void SiteTerm::set_alone(Arguments& a) const {
  if (matrix_) {
    a.b.re = 1;
    a.matrix = element(false, Dagger::no);
    return;
  }
  if (!stands_alone()) throw UsageError("a site term with a twisted mass has no kernel of its own");
  a.term = stored_->term().operand();
  a.b.re = stored_->term().scale();
}

double SiteTerm::log_det(Parity parity, long long sites) const {
  if (matrix_) return 3.0 * double(sites) * matrix_->log_det;
  // |det(C + i mu gamma_5)|^2 = det(C^2 + mu^2); for two flavours det T = det(C^2 + mu^2 - epsilon^2).
  if (stored_) return stored_->log_det(parity) * (twisted_ && flavours_ == 1 ? 0.5 : 1);
  return 6.0 * flavours_ * double(sites) * std::log(std::abs(diagonal_ * diagonal_ + shift()));
}

}  // namespace quarksmith
