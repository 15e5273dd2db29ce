#include "solvers/measure/disconnected.hpp"

#include "runtime/fields/expression.hpp"
#include "solvers/measure/source.hpp"

namespace quarksmith {

long long Dilution::parts(const Lattice& l) const {
  const long long volume = static_cast<long long>(l.global_extent(0)) * l.global_extent(1) * l.global_extent(2);
  return (spin ? 4 : 1) * (colour ? 3 : 1) * (even_odd ? 2 : 1) * (time ? l.global_extent(3) : 1) *
         (space ? volume : 1);
}

HostSpinor Dilution::part(const HostSpinor& noise, long long n) const {
  const Lattice& l = noise.lattice;
  /// The value that a diluted index has in this part; -1: it has all.
  const auto next = [&n](bool diluted, long long values) {
    const long long value = diluted ? n % values : -1;
    if (diluted) n /= values;
    return value;
  };
  const long long s = next(spin, 4), c = next(colour, 3), parity = next(even_odd, 2),
                  t = next(time, l.global_extent(3));
  const long long x = next(space, l.global_extent(0)), y = next(space, l.global_extent(1)),
                  z = next(space, l.global_extent(2));
  HostSpinor chosen(l);
  for (long long i = 0; i < l.sites(); ++i) {
    const Coordinates here = l.coordinates(i);
    const auto at = [&](int mu, long long value) { return value < 0 || here[mu] + l.origin(mu) == value; };
    if (!at(0, x) || !at(1, y) || !at(2, z) || !at(3, t) || (parity >= 0 && int(Lattice::parity(here)) != parity))
      continue;
    for (int a = 0; a < 12; ++a)
      if ((s < 0 || a / 3 == s) && (c < 0 || a % 3 == c)) chosen.site[i][a] = noise.site[i][a];
  }
  return chosen;
}

HostSpinor independent_noise(const Lattice& lattice, std::uint64_t seed, std::uint64_t number, int order) {
  HostSpinor noise(lattice);
  for (long long i = 0; i < lattice.sites(); ++i) {
    Random random = random_at(lattice, i, {seed, number});
    for (Complex64& z : noise.site[i]) z = drawn_root(random, order);
  }
  return noise;
}

void LoopSum::add(const SpinorField& eta, const SpinorField& x) {
  const std::vector<Complex64> sums =
      momentum_sums(site_sums("loops", {eta, x}, {.basis = "degrand_rossi"}), phases_);  // part after part
  all_.resize(sums.size() / static_cast<std::size_t>(x.rhs()));
  for (std::size_t n = 0; n < sums.size(); ++n) all_[n % all_.size()] += sums[n];
}

std::vector<Complex64> LoopSum::sums(std::span<const int> gammas) const {
  std::vector<Complex64> some;
  for (std::size_t n = 0; n < all_.size(); n += 16)
    for (const int g : gammas) some.push_back(all_[n + static_cast<std::size_t>(g)]);
  return some;
}

}  // namespace quarksmith
