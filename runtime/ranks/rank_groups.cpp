#include "runtime/ranks/rank_groups.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/error.hpp"

namespace quarksmith {
namespace {

constexpr int tag = 77;

/// Lexicographic number, x fastest, of a place in a box.
int number_of(const Coordinates& place, const Coordinates& box) {
  return ((place[3] * box[2] + place[2]) * box[1] + place[1]) * box[0] + place[0];
}
Coordinates place_of(int number, const Coordinates& box) {
  Coordinates place;
  for (int mu = 0; mu < directions; ++mu) {
    place[mu] = number % box[mu];
    number /= box[mu];
  }
  return place;
}

/// What is done with the coordinates of each direction.
template <class F>
Coordinates each_of(const F& f) {
  return {f(0), f(1), f(2), f(3)};
}

/// The grid of a group.
Coordinates grid_of(const Lattice& all, const Coordinates& groups) {
  for (int mu = 0; mu < directions; ++mu)
    if (groups[mu] < 1 || all.grid()[mu] % groups[mu] != 0)
      throw UsageError(fmt::format("{} groups of a grid of {} ranks; use divisors of these numbers",
                                   fmt::join(groups, "x"), fmt::join(all.grid(), "x")));
  return each_of([&](int mu) { return all.grid()[mu] / groups[mu]; });
}

}  // namespace

RankGroups::RankGroups(const Lattice& all, std::shared_ptr<Communicator> ranks, const Coordinates& groups)
    : all_(all), lattice_(all), ranks_(std::move(ranks)), groups_(groups), place_(place_of(all.rank(), all.grid())) {
  const Coordinates grid = grid_of(all, groups);
  in_group_ = each_of([&](int mu) { return place_[mu] % grid[mu]; });
  own_ = number_of(each_of([&](int mu) { return place_[mu] / grid[mu]; }), groups);
  for (const int n : groups) count_ *= n;
  lattice_ = Lattice(all.global_extent(), grid, in_group_);
  group_ = ranks_->split(own_);
}

int RankGroups::member(int group, const Coordinates& place) const {
  const Coordinates at = place_of(group, groups_);
  return number_of(each_of([&](int mu) { return at[mu] * lattice_.grid()[mu] + place[mu]; }), all_.grid());
}

int RankGroups::holder(int group) const {
  return member(group, each_of([&](int mu) { return place_[mu] / groups_[mu]; }));
}

template <class Visit>
void RankGroups::for_each_part(const Visit& visit) const {
  for (int n = 0; n < count_; ++n) {
    const Coordinates part = place_of(n, groups_);
    visit(n, number_of(each_of([&](int mu) { return in_group_[mu] * groups_[mu] + part[mu]; }), all_.grid()),
          each_of([&](int mu) { return part[mu] * all_.extent(mu); }));
  }
}

namespace {

/// Copies rows of sites between a part, whose sites follow each other, and where it lies in a larger lattice.
template <class Copy>
void for_each_row(const Lattice& part, const Lattice& whole, const Coordinates& first, const Copy& copy) {
  for (long long i = 0; i < part.sites(); i += part.extent(0)) {
    const Coordinates x = part.coordinates(i);
    copy(i, whole.index(each_of([&](int mu) { return x[mu] + first[mu]; })));
  }
}

}  // namespace

void RankGroups::hand_out(std::size_t each, const std::vector<const std::complex<double>*>& to_groups,
                          std::complex<double>* whole) const {
  const std::size_t numbers = each * std::size_t(all_.sites()), bytes = numbers * sizeof(*whole);
  std::vector<Message> sends, receives;
  for (int g = 0; g < count_; ++g)
    if (to_groups[g] != nullptr)
      sends.push_back({holder(g), tag, const_cast<std::complex<double>*>(to_groups[g]), bytes});
  std::vector<std::complex<double>> parts(to_groups[own_] != nullptr ? numbers * count_ : 0);
  for_each_part([&](int n, int rank, const Coordinates&) {
    if (!parts.empty()) receives.push_back({rank, tag, parts.data() + n * numbers, bytes});
  });
  ranks_->start(sends, receives);
  ranks_->finish();
  for_each_part([&](int n, int, const Coordinates& first) {
    if (parts.empty()) return;
    for_each_row(all_, lattice_, first, [&](long long here, long long there) {
      std::copy_n(parts.data() + n * numbers + here * each, each * all_.extent(0), whole + there * each);
    });
  });
}

void RankGroups::bring_back(std::size_t each, const std::complex<double>* whole,
                            const std::vector<std::complex<double>*>& of_groups) const {
  const std::size_t numbers = each * std::size_t(all_.sites()), bytes = numbers * sizeof(*whole);
  std::vector<Message> sends, receives;
  for (int g = 0; g < count_; ++g)
    if (of_groups[g] != nullptr) receives.push_back({holder(g), tag, of_groups[g], bytes});
  std::vector<std::complex<double>> parts(of_groups[own_] != nullptr ? numbers * count_ : 0);
  for_each_part([&](int n, int rank, const Coordinates& first) {
    if (parts.empty()) return;
    for_each_row(all_, lattice_, first, [&](long long here, long long there) {
      std::copy_n(whole + there * each, each * all_.extent(0), parts.data() + n * numbers + here * each);
    });
    sends.push_back({rank, tag, parts.data() + n * numbers, bytes});
  });
  ranks_->start(sends, receives);
  ranks_->finish();
}

}  // namespace quarksmith
