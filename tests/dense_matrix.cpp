#include "tests/dense_matrix.hpp"

namespace dense {

Dense matrix_of(const LinearOperator& a, const BasisInfo& basis, bool turned) {
  const Lattice& lattice = a.domain()->lattice();
  SpinorField x = a.field(), y = a.field();
  SpinorField xs = x.by_slice(), ys = y.by_slice();
  HostSpinor zero(lattice), one(lattice), image(lattice);
  std::vector<std::array<long long, 3>> places;
  for (int s = 0; s < a.slices(); ++s)
    for (long long i = 0; i < lattice.sites(); ++i)
      for (int c = 0; c < 3 * a.spins(); ++c)
        if (a.subset() == Subset::full || Lattice::parity(lattice.coordinates(i)) == Parity::even)
          places.push_back({s, i, c});
  const auto size = static_cast<Eigen::Index>(places.size());
  Dense m(size, size);
  for (Eigen::Index j = 0; j < size; ++j) {
    const auto [slice, site, component] = places[std::size_t(j)];
    for (int s = 0; s < a.slices(); ++s) upload(zero, xs, basis, s);
    one = zero;
    one.site[std::size_t(site)][std::size_t(component)] = 1;
    upload(one, xs, basis, static_cast<int>(slice));
    a.apply(y, x, Dagger::no);
    std::vector<HostSpinor> images;
    for (int s = 0; s < a.slices(); ++s) {
      download(ys, image, basis, s);
      images.push_back(image);
    }
    for (Eigen::Index i = 0; i < size; ++i) {
      const auto [s, at, c] = places[std::size_t(i)];
      m(i, j) = images[std::size_t(s)].site[std::size_t(at)][std::size_t(c)] * (turned && c >= 6 ? -1.0 : 1.0);
    }
  }
  return m;
}

Dense product(const Dense& a, const Dense& b) {
  Dense c = Dense::Zero(a.rows(), b.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    for (Eigen::Index k = 0; k < a.cols(); ++k)
      for (Eigen::Index j = 0; j < b.cols(); ++j) c(i, j) += a(i, k) * b(k, j);
  return c;
}

}  // namespace dense
