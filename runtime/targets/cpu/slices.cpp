// Compiled without fused multiply-adds and without reassociation: exact sums are exact only as written.
#include "runtime/targets/cpu/slices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define QUARKSMITH_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define QUARKSMITH_CLONES
#endif

namespace quarksmith::cpu {
namespace {

constexpr int together = 256;  ///< sites of a row, whose numbers stay in the cache
constexpr int width = 8;       ///< partial sums in parallel: the result does not depend on the order

/// Adds the sum over the sites of a row, times phases (re, im), to sums[4]: multiples of both units, each re and im.
QUARKSMITH_CLONES void add_row(const double* re, const double* im, const double* phases, SumUnits units, double* sums) {
  double coarse_re[width] = {}, coarse_im[width] = {}, fine_re[width] = {}, fine_im[width] = {};
  for (int site = 0; site < together; site += width)
    for (int n = 0; n < width; ++n) {
      const double c = phases[2 * (site + n)], s = phases[2 * (site + n) + 1];
      const double a = re[site + n], b = im[site + n];
      const double x = c * a - s * b, y = c * b + s * a;
      const double qx = (x + units.first) - units.first, qy = (y + units.first) - units.first;
      coarse_re[n] += qx;
      coarse_im[n] += qy;
      fine_re[n] += ((x - qx) + units.second) - units.second;
      fine_im[n] += ((y - qy) + units.second) - units.second;
    }
  for (int n = 0; n < width; ++n) {
    sums[0] += coarse_re[n];
    sums[1] += coarse_im[n];
    sums[2] += fine_re[n];
    sums[3] += fine_im[n];
  }
}

}  // namespace

std::vector<double> largest_in_slices(const SliceNumbers& f) {
  std::vector<double> all(static_cast<std::size_t>(f.results()));
#pragma omp parallel for schedule(static)
  for (int slice = 0; slice < f.slices; ++slice)
    for (int site = 0; site < f.sites; ++site) {
      const double* z = f.data + f.first[static_cast<long long>(slice) * f.sites + site];
      for (int n = 0; n < f.count; ++n)
        for (const double size : {std::abs(z[n * f.stride]), std::abs(z[n * f.stride + f.imaginary])})
          if (size <= std::numeric_limits<double>::max())
            all[slice * f.count + n] = std::max(all[slice * f.count + n], size);
    }
  return all;
}

std::vector<double> sums_over_slices(const SliceNumbers& f, const std::vector<SumUnits>& units, const double* phases,
                                     int momenta) {
  std::vector<double> all(static_cast<std::size_t>(f.results()) * momenta * 4);
#pragma omp parallel for collapse(2) schedule(dynamic)
  for (int slice = 0; slice < f.slices; ++slice)
    for (int n = 0; n < f.count; ++n)
      for (int from = 0; from < f.sites; from += together) {
        alignas(64) double re[together] = {}, im[together] = {}, padded[2 * together] = {};
        const int sites = std::min(together, f.sites - from);
        const long long* first = f.first + static_cast<long long>(slice) * f.sites + from;
        for (int i = 0; i < sites; ++i) {
          re[i] = f.data[first[i] + n * f.stride];
          im[i] = f.data[first[i] + n * f.stride + f.imaginary];
        }
        for (int p = 0; p < momenta; ++p) {
          const double* turns = phases + 2 * (static_cast<long long>(p) * f.sites + from);
          if (sites < together) {
            std::copy(turns, turns + 2 * sites, padded);
            turns = padded;
          }
          add_row(re, im, turns, units[slice * f.count + n],
                  &all[4 * ((static_cast<std::size_t>(slice) * momenta + p) * f.count + n)]);
        }
      }
  return all;
}

}  // namespace quarksmith::cpu
