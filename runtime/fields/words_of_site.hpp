/// \file
/// Access of the host to fields of a device, site by site.
#pragma once

#include <algorithm>

#include "runtime/fields/field.hpp"
#include "runtime/fields/order.hpp"

namespace quarksmith {

/// Lexicographic numbers of sites, from first to before end.
struct SiteRange {
  long long first, end;
};
inline SiteRange all_sites(const Lattice& lattice) { return {0, lattice.sites()}; }

/// Calls visit(lexicographic site, block among all that are held, lane) for every copy of every site of a subset in a
/// range.
template <class Visit>
void for_each_stored_site(const Domain& domain, int lanes, Subset subset, SiteRange range, const Visit& visit) {
  const Lattice& lattice = domain.lattice();
  const LaneLayout& layout = domain.layout(lanes);
  const int half_blocks = layout.geometry().half_sites, boxes = layout.boxes();
#pragma omp parallel for schedule(static)
  for (long long i = range.first; i < range.end; ++i) {
    const Coordinates x = lattice.coordinates(i);
    const Parity parity = Lattice::parity(x);
    if (!holds(subset, parity)) continue;
    const auto [block, first] = layout.position(x);
    for (int lane = first; lane < lanes; lane += boxes)
      visit(i, subset == Subset::full && parity == Parity::odd ? half_blocks + block : block, lane);
  }
}

/// The words of a site in the memory of a field of doubles, or in a piece of it that begins `before` words after it.
class WordsOfSite {
 public:
  WordsOfSite(double* memory, const MemoryOrder& order, long long block, int lane, long long before = 0)
      : memory_(memory), order_(order), block_(block), before_(before), lane_(lane) {}
  double& operator[](int n) const { return memory_[order_.word(block_, lane_, n) - before_]; }
  Complex64 number(int n) const { return {(*this)[2 * n], (*this)[2 * n + 1]}; }
  void set(int n, Complex64 z) const {
    (*this)[2 * n] = z.real();
    (*this)[2 * n + 1] = z.imag();
  }

 private:
  double* memory_;
  const MemoryOrder& order_;
  long long block_, before_;
  int lane_;
};

enum class Way { to_device, to_host };

/// Calls visit(lexicographic site, WordsOfSite) for the sites that a field of doubles of one lane holds, in the memory
/// of a device that the host does not see: some sites after the other by way of `staged` bytes that both reach.
/// Consecutive sites are blocks of both parities (LaneLayout::position); the other sites of blocks in which a range
/// begins or ends become zero.
template <class Visit>
void for_each_staged_site(const Domain& domain, Subset subset, SiteRange range, Way way, double* memory,
                          const MemoryOrder& order, const Visit& visit, std::size_t staged = 16 << 20) {
  constexpr long long step = 2 * site_block;
  const Lattice& lattice = domain.lattice();
  DeviceMemory& device = domain.device();
  const long long half_blocks = lattice.sites() / 2, of_site = order.site_words();
  const long long most = std::max<long long>(1, staged / sizeof(double) / (step * of_site)) * step;
  auto* const pieces = static_cast<double*>(device.staging(std::size_t(most * of_site) * sizeof(double)));
  for (long long first = range.first / step * step; first < range.end; first += most) {
    const long long end = std::min(first + most, range.end), begin = std::max(first, range.first);
    const long long blocks = (end - first + step - 1) / step * site_block, words = blocks * of_site;  // of a parity
    const auto before = [&](int held) { return held * order.parity_words() + first / 2 * of_site; };
    const auto copies = [&](auto copy) {
      for (int held = 0; held < order.parities; ++held)
        copy(memory + before(held), pieces + held * words, std::size_t(words) * sizeof(double));
    };
    if (way == Way::to_host)
      copies([&](double* there, double* here, std::size_t bytes) { device.download(here, there, bytes); });
    else if (2 * blocks != end - begin)
      std::fill_n(pieces, order.parities * words, 0.0);
#pragma omp parallel for schedule(static)
    for (long long i = begin; i < end; ++i) {
      const Parity parity = Lattice::parity(lattice.coordinates(i));
      if (!holds(subset, parity)) continue;
      const bool second = subset == Subset::full && parity == Parity::odd;
      visit(i, WordsOfSite(pieces + second * words, order, (second ? half_blocks : 0) + i / 2, 0, before(second)));
    }
    if (way == Way::to_device)
      copies([&](double* there, double* here, std::size_t bytes) { device.upload(there, here, bytes); });
  }
}

/// The same for a field of any device; of processors with lanes visit sees every copy of a site.
template <class Visit>
void for_each_site_of(const Domain& domain, int lanes, Subset subset, SiteRange range, Way way, void* field,
                      const MemoryOrder& order, const Visit& visit) {
  auto* const memory = static_cast<double*>(field);
  if (domain.device().asynchronous()) return for_each_staged_site(domain, subset, range, way, memory, order, visit);
  for_each_stored_site(domain, lanes, subset, range, [&](long long i, long long block, int lane) {
    visit(i, WordsOfSite(memory, order, block, lane));
  });
}

}  // namespace quarksmith
