#include "solvers/actions/slice_chain.hpp"

#include <fmt/format.h>

#include <cmath>

#include "runtime/error.hpp"

namespace quarksmith {

SliceMatrix::SliceMatrix(int slices) {
  for (auto* part : {&diagonal, &shifted}) part->fill(std::vector<Complex64>(slices));
}

SliceMatrix::SliceMatrix(const std::vector<Complex64>& alpha, const std::vector<Complex64>& beta, Complex64 corner) {
  diagonal.fill(alpha);
  shifted.fill(beta);
  shifted[int(Chirality::minus)].back() *= corner;
  shifted[int(Chirality::plus)].front() *= corner;
}

SliceMatrix SliceMatrix::one(int slices) {
  SliceMatrix m(slices);
  for (auto& part : m.diagonal) part.assign(slices, 1);
  return m;
}

SliceChain::SliceChain(const SliceMatrix& numerator, const SliceMatrix& denominator) {
  const int slices = numerator.slices();
  for (int part = 0; part < chiralities; ++part)
    for (int s = 0; s < slices; ++s) {
      const Complex64 p = numerator.diagonal[part][s], q = numerator.shifted[part][s];
      const Complex64 d = denominator.diagonal[part][s], e = denominator.shifted[part][s];
      if (d == 0.0) throw UsageError(fmt::format("the fifth-dimensional matrix is singular at slice {}", s));
      step[part].push_back({p / d, q - p * e / d, 1.0 / d, -e / d, 0});
    }
  close();
}

void SliceChain::close() {
  for (int part = 0; part < chiralities; ++part) {
    auto& all = step[part];
    // The chain of P_- starts at the last slice, that of P_+ at the first; conjugates start at the other end. The last
    // slice that it comes to is the first here.
    const bool from_first = (part == int(Chirality::minus)) != adjoint_;
    const int slices = static_cast<int>(all.size());
    Complex64 onward = 1;
    for (int n = 0; n < slices; ++n) {
      ChainStep& c = all[from_first ? n : slices - 1 - n];
      c.close = onward * c.give;
      onward *= c.keep;
    }
    if (onward == 1.0) throw UsageError("the fifth-dimensional matrix is singular: use another mass or M5");
    for (ChainStep& c : all) c.close /= 1.0 - onward;
  }
}

SliceChain SliceChain::adjoint() const {
  SliceChain result;
  result.adjoint_ = !adjoint_;
  for (int part = 0; part < chiralities; ++part)
    for (const ChainStep& c : step[part])
      result.step[part].push_back({std::conj(c.own), std::conj(c.give), std::conj(c.take), std::conj(c.keep), 0});
  result.close();
  return result;
}

bool SliceChain::is_complex() const {
  for (const auto& all : step)
    for (const ChainStep& c : all)
      for (const Complex64& z : {c.own, c.take, c.give, c.keep})
        if (z.imag() != 0) return true;
  return false;
}

namespace {

template <class T>
Memory store_as(const SliceChain& chain, const std::shared_ptr<Device>& device, bool as_complex) {
  std::vector<T> table;
  for (int s = 0; s < chain.slices(); ++s)
    for (const auto& all : chain.step)
      for (const Complex64& z : {all[s].own, all[s].take, all[s].give, all[s].keep, all[s].close}) {
        table.push_back(static_cast<T>(z.real()));
        if (as_complex) table.push_back(static_cast<T>(z.imag()));
      }
  Memory memory(device, table.size() * sizeof(T));
  device->upload(memory.data(), table.data(), memory.bytes());
  return memory;
}

}  // namespace

Memory store(const SliceChain& chain, const std::shared_ptr<Device>& device, const PrecisionInfo& precision,
             bool as_complex) {
  return precision.element_bytes == 8 ? store_as<double>(chain, device, as_complex)
                                      : store_as<float>(chain, device, as_complex);
}

}  // namespace quarksmith
