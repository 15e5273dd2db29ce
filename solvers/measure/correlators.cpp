#include "solvers/measure/correlators.hpp"

#include <cmath>

namespace quarksmith {
namespace {

using Spin4 = std::array<std::array<Complex64, 4>, 4>;

Spin4 product(const Spin4& a, const Spin4& b) {
  Spin4 c{};
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 4; ++k)
      for (int j = 0; j < 4; ++j) c[i][j] += a[i][k] * b[k][j];
  return c;
}

Spin4 dagger(const Spin4& a) {
  Spin4 c;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[i][j] = std::conj(a[j][i]);
  return c;
}

/// gamma_mu of the basis in which propagators are kept.
Spin4 gamma(int mu) {
  const double* numbers = find_basis("degrand_rossi").gamma[mu];
  Spin4 g;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) g[i][j] = {numbers[2 * (4 * i + j)], numbers[2 * (4 * i + j) + 1]};
  return g;
}

Spin4 unit() {
  Spin4 g{};
  for (int i = 0; i < 4; ++i) g[i][i] = 1;
  return g;
}

/// Product of the gammas whose bits are set, in the order x, y, z, t.
Spin4 gamma_product(int bits) {
  Spin4 g = unit();
  for (int mu = 0; mu < 4; ++mu)
    if (bits >> mu & 1) g = product(g, gamma(mu));
  return g;
}

/// T[b][c][e][d] = sum_x sum_colours S_bc conj(S_ed), spins b, e at the sink and c, d at the source.
using SpinTensor = std::array<Complex64, 256>;

SpinTensor slice_tensor(const Propagator& s, int t) {
  const int space = s.lattice.space_sites();
  SpinTensor total{};
  for (int i = 0; i < space; ++i) {
    const auto& m = s.site[static_cast<std::size_t>(t) * space + i];
    for (int c = 0; c < 4; ++c)
      for (int d = 0; d < 4; ++d)
        for (int colour = 0; colour < 3; ++colour) {
          const HostSite &left = m[3 * c + colour], &right = m[3 * d + colour];
          for (int b = 0; b < 4; ++b)
            for (int e = 0; e < 4; ++e) {
              Complex64 sum = 0;
              for (int k = 0; k < 3; ++k) sum += left[3 * b + k] * std::conj(right[3 * e + k]);
              total[64 * b + 16 * c + 4 * e + d] += sum;
            }
        }
  }
  return total;
}

/// One non-zero element of a sparse spin matrix.
struct Element {
  int row, column;
  Complex64 value;
};

std::vector<Element> elements(const Spin4& m) {
  std::vector<Element> list;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (std::abs(m[i][j]) > 1e-12) list.push_back({i, j, m[i][j]});
  return list;
}

constexpr struct {
  int a, b, c;
  double sign;
} permutations[] = {{0, 1, 2, 1}, {1, 2, 0, 1}, {2, 0, 1, 1}, {0, 2, 1, -1}, {2, 1, 0, -1}, {1, 0, 2, -1}};

/// sum eps eps' (C g5)_{al be} (C g5)_{al' be'} P_{ga' ga} S_{be be'}^{bb'} (S_{al al'}^{aa'} S_{ga ga'}^{cc'} -
/// S_{al ga'}^{ac'} S_{ga al'}^{ca'})
Complex64 proton_at(const std::array<HostSite, 12>& m, const std::vector<Element>& diquark,
                    const std::vector<Element>& projector) {
  const auto s = [&m](int sink_spin, int sink, int source_spin, int source) {
    return m[3 * source_spin + source][3 * sink_spin + sink];
  };
  Complex64 total = 0;
  for (const auto& p : permutations)
    for (const auto& q : permutations)
      for (const Element& in : diquark)
        for (const Element& out : diquark) {
          const Complex64 weight = p.sign * q.sign * in.value * out.value * s(in.column, p.b, out.column, q.b);
          Complex64 pairs = 0;
          for (const Element& g : projector)
            pairs += g.value * (s(in.row, p.a, out.row, q.a) * s(g.column, p.c, g.row, q.c) -
                                s(in.row, p.a, g.row, q.c) * s(g.column, p.c, out.row, q.a));
          total += weight * pairs;
        }
  return total;
}

}  // namespace

void Propagator::set_column(int spin, int colour, const HostSpinor& solution) {
  for (std::size_t x = 0; x < site.size(); ++x) site[x][3 * spin + colour] = solution.site[x];
}

const std::vector<std::string>& meson_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (int bits = 0; bits < 16; ++bits) {
      std::string name;
      for (int mu = 0; mu < 4; ++mu)
        if (bits >> mu & 1) name += std::string("g") + "xyzt"[mu];
      all.push_back(bits == 0 ? "1" : bits == 15 ? "g5" : name);
    }
    return all;
  }();
  return names;
}

namespace {

/// The tensors of all time slices of the whole lattice.
std::vector<SpinTensor> all_slice_tensors(const Propagator& s, Communicator& communicator) {
  std::vector<SpinTensor> tensors(s.lattice.global_extent(3));
#pragma omp parallel for schedule(dynamic)
  for (int t = 0; t < s.lattice.extent(3); ++t) tensors[s.lattice.origin(3) + t] = slice_tensor(s, t);
  communicator.sum({reinterpret_cast<double*>(tensors.data()), tensors.size() * sizeof(SpinTensor) / sizeof(double)});
  return tensors;
}

}  // namespace

std::vector<std::vector<double>> meson_correlators(const Propagator& s, int source_t, Communicator& communicator) {
  const int extent = s.lattice.global_extent(3);
  const std::vector<SpinTensor> tensors = all_slice_tensors(s, communicator);
  const Spin4 g5 = gamma_product(15), gt = gamma(3);
  std::vector<std::vector<double>> result(16, std::vector<double>(extent));
  for (int bits = 0; bits < 16; ++bits) {
    const Spin4 g = gamma_product(bits);
    const Spin4 sink = product(g5, g), source = product(product(gt, product(dagger(g), gt)), g5);
    for (int t = 0; t < extent; ++t) {
      const SpinTensor& tensor = tensors[(t + source_t) % extent];
      Complex64 sum = 0;
      for (int e = 0; e < 4; ++e)
        for (int b = 0; b < 4; ++b)
          for (int c = 0; c < 4; ++c)
            for (int d = 0; d < 4; ++d) sum += sink[e][b] * source[c][d] * tensor[64 * b + 16 * c + 4 * e + d];
      result[bits][t] = -sum.real();
    }
  }
  return result;
}

std::vector<Complex64> proton_correlator(const Propagator& s, int source_t, Complex64 time_phase,
                                         Communicator& communicator) {
  const int extent = s.lattice.global_extent(3), space = s.lattice.space_sites();
  // C = gamma_y gamma_t fulfils C gamma_mu C^-1 = -gamma_mu^T in the DeGrand-Rossi basis up to a phase that cancels.
  const std::vector<Element> diquark = elements(product(product(gamma(1), gamma(3)), gamma_product(15)));
  Spin4 forward = gamma(3);
  for (int i = 0; i < 4; ++i) {
    forward[i][i] += 1.0;
    for (Complex64& z : forward[i]) z *= 0.5;
  }
  const std::vector<Element> projector = elements(forward);
  std::vector<Complex64> slices(extent), result(extent);
  for (int t = 0; t < s.lattice.extent(3); ++t) {
    double re = 0, im = 0;
    std::vector<Complex64> sums(space);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < space; ++i)
      sums[i] = proton_at(s.site[static_cast<std::size_t>(t) * space + i], diquark, projector);
    for (const Complex64& z : sums) re += z.real(), im += z.imag();  // in a fixed order
    slices[s.lattice.origin(3) + t] = {re, im};
  }
  communicator.sum({reinterpret_cast<double*>(slices.data()), 2 * slices.size()});
  for (int t = 0; t < extent; ++t) {
    result[t] = slices[(t + source_t) % extent];
    if (t + source_t >= extent) result[t] /= time_phase * time_phase * time_phase;
  }
  return result;
}

}  // namespace quarksmith
