/// \file
/// Dense matrices between the sites of coarse lattices.
#pragma once

#include <functional>
#include <memory>

#include "solvers/krylov/linear_operator.hpp"
#include "solvers/multigrid/coarse_ranks.hpp"
#include "solvers/multigrid/places.hpp"

namespace quarksmith {

/// Matrices that take the vectors of some sites to those of a subset, as the kernels of coarse lattices read them.
class SiteMatrices {
 public:
  SiteMatrices() = default;
  /// Zeros.
  /// \param like a coarse field on all sites.
  /// \param points matrices of a site. \param other the site to which one is applied: of the lattice of the border, if
  /// there is one.
  /// \param border of fields on `from`, where matrices take vectors of sites of other ranks.
  SiteMatrices(const SpinorField& like, Subset to, Subset from, int points,
               const std::function<long long(long long site, int point)>& other,
               std::unique_ptr<CoarseBorder> border = nullptr);

  /// Column number `first` of a point and those that follow += b in.
  void add(int point, int first, double b, const SpinorField& in);
  /// += in, at points that differ from site to site.
  /// \param points in memory of the device, in the order of sites(); -1: none.
  void add(const int* points, int first, const SpinorField& in);
  /// += the matrices of an operator, which takes those sites to each other.
  void probe(const LinearOperator& a);
  /// Takes over the matrices of another one of the same shape.
  void copy(const SiteMatrices& other);
  /// Each matrix becomes its inverse where sites have one; where each couples to all of them, all together do.
  /// \return false if a pivot vanishes, on any rank.
  bool invert();
  /// Goes over to 16 bits.
  void pack();

  /// Lexicographic numbers of those to which they take vectors.
  const std::vector<long long>& sites() const { return sites_; }
  /// Bytes of the matrices as stored.
  std::size_t bytes() const { return packed_.data() != nullptr ? packed_.bytes() + scale_.bytes() : panel_.bytes(); }

  /// Work space for so many right-hand sides.
  void reserve(int rhs) const {
    if (reads_copies()) order_.reserve(rhs);
    if (border_) border_->reserve(rhs);
  }
  /// out = a x + b C in on the sites of the one subset from those of the other; x may be null. Collective where there
  /// is a border.
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
