/// \file
/// Dense matrices between the sites of coarse lattices.
#pragma once

#include <functional>
#include <memory>

#include "solvers/krylov/linear_operator.hpp"
#include "solvers/multigrid/coarse_ranks.hpp"
#include "solvers/multigrid/places.hpp"

namespace quarksmith {

/// Matrices from vectors at sites of one subset to vectors at sites of another, in the format of the kernels of coarse
/// lattices.
class SiteMatrices {
 public:
  SiteMatrices() = default;
  /// Makes zero matrices.
  /// \param like a coarse field on all sites.
  /// \param points number of matrices of a site. \param other the site to whose vector a matrix is applied; on the
  /// padded lattice, if there is a border.
  /// \param border halo of fields on `from`, if matrices are applied to vectors of other ranks.
  SiteMatrices(const SpinorField& like, Subset to, Subset from, int points,
               const std::function<long long(long long site, int point)>& other,
               std::unique_ptr<CoarseBorder> border = nullptr);

  /// Adds b in to column `first` and the following ones, one for each right-hand side, of a point.
  void add(int point, int first, double b, const SpinorField& in);
  /// Adds `in` to columns of points that differ from site to site.
  /// \param points in memory of the device, in the order of sites(); -1: none.
  void add(const int* points, int first, const SpinorField& in);
  /// Adds the matrices of an operator on these sites.
  void probe(const LinearOperator& a);
  /// Copies the matrices of another object of the same shape.
  void copy(const SiteMatrices& other);
  /// Inverts each matrix if there is one at each site; inverts all together as one matrix if each site couples to all.
  /// \return false if a pivot vanishes on any rank.
  bool invert();
  /// Converts the matrices to 16 bits.
  void pack();

  /// Lexicographic numbers of the sites of results.
  const std::vector<long long>& sites() const { return sites_; }
  /// Bytes of the matrices as stored.
  std::size_t bytes() const { return packed_.data() != nullptr ? packed_.bytes() + scale_.bytes() : panel_.bytes(); }

  /// Allocates work space for `rhs` right-hand sides.
  void reserve(int rhs) const {
    if (reads_copies()) order_.reserve(rhs);
    if (border_) border_->reserve(rhs);
  }
  /// out = a x + b C in, where C are the matrices; x may be null. Collective if there is a border.
  void apply(SpinorField& out, double a, const SpinorField* x, double b, const SpinorField& in) const;

 private:
  bool reads_copies() const;
  void add(Arguments args, const SpinorField& in);
  void eliminate();
  void make_record();
  const Kernel& kernel(const char* name) const;
  void run(const Kernel& kernel, long long items, int groups, const std::function<void(Arguments&)>& set) const;
  void multiply(SpinorField& out, double a, const SpinorField* x, double b, const SpinorField& in) const;

  DomainPointer domain_;
  const PrecisionInfo* precision_ = nullptr;
  Subset to_ = Subset::even, from_ = Subset::even;
  int rows_ = 0, stored_rows_ = 0, points_ = 0;
  std::vector<long long> sites_;
  FieldPlaces places_{};
  const Kernel* apply_ = nullptr;
  std::unique_ptr<CoarseBorder> border_;
  SiteOrder order_;
  Memory first_, other_first_, other_, panel_, packed_, scale_, failed_, record_;
};

}  // namespace quarksmith
