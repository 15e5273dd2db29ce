#include "runs/column_groups.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "runs/contraction.hpp"
#include "runtime/error.hpp"

namespace quarksmith::runs {
namespace {

/// Numbers travel as they are stored: those of fields on the host are in this basis.
const BasisInfo& as_stored() { return find_basis("degrand_rossi"); }

/// The time of all columns, in those of a site.
double columns_time(const Lattice& lattice, const Coordinates& counts, int columns) {
  double sites = 1, boundary = 0;
  int groups = 1;
  for (int mu = 0; mu < directions; ++mu) {
    const double extent = lattice.extent(mu) * counts[mu];
    sites *= extent;
    groups *= counts[mu];
    if (lattice.grid()[mu] > counts[mu]) boundary += 2 / extent;
  }
  if (groups > 1 && sites > most_group_sites) return std::numeric_limits<double>::infinity();
  return (columns + groups - 1) / groups * sites * (1 + boundary);
}

}  // namespace

void list_split(Members::Adder add, std::string& split, const std::string& otherwise) {
  add("split", split,
      "X,Y,Z,T: groups of ranks along each direction, which hold the whole lattice and solve for different right-hand "
      "sides" +
          otherwise);
}

Coordinates soonest_groups(const Lattice& lattice, int columns) {
  const Coordinates& grid = lattice.grid();
  Coordinates best = {1, 1, 1, 1}, counts;
  double least = 0.9 * columns_time(lattice, best, columns);
  for (counts[3] = grid[3]; counts[3] > 0; --counts[3])
    for (counts[2] = grid[2]; counts[2] > 0; --counts[2])
      for (counts[1] = grid[1]; counts[1] > 0; --counts[1])
        for (counts[0] = grid[0]; counts[0] > 0; --counts[0]) {
          const bool divide = std::equal(grid.begin(), grid.end(), counts.begin(),
                                         [](int ranks, int groups) { return ranks % groups == 0; });
          if (const double time = divide ? columns_time(lattice, counts, columns) : least; time < least) {
            least = time;
            best = counts;
          }
        }
  return best;
}

bool are_independent(const SolveSettings& s, const Device& device) {
  const std::array methods = {Method::cg, Method::cgne, Method::bicgstab, Method::bicgstab_l, Method::gcr, Method::mr};
  const std::array precisions = {"double", "single", "double-single"};
  return !device.asynchronous() && !s.deflation && !s.parameters.preconditioner &&
         std::ranges::find(methods, s.method) != methods.end() &&
         std::ranges::find(precisions, s.precision) != precisions.end();
}

namespace {

/// The links of all ranks, on those of a group.
HostGauge handed_out(const RankGroups& groups, const HostGauge& of_all) {
  HostGauge links(groups.lattice(), of_all.colours());
  groups.hand_out(of_all.site.each(), std::vector<const Complex64*>(std::size_t(groups.count()), of_all.site.at(0)),
                  links.site.at(0));
  links.phase = of_all.phase;
  return links;
}

}  // namespace

ColumnGroups::ColumnGroups(const Coordinates& counts, const NamedGauge& of_all, DomainPointer all, Session& session)
    : groups_(of_all.gauge.lattice(), all->communicator_pointer(), counts),
      named_{handed_out(groups_, of_all.gauge), of_all.origin},
      all_(std::move(all)),
      own_(std::make_shared<Domain>(groups_.lattice(), all_->device_pointer(), groups_.ranks(), all_->reach())) {
  for (const auto& [name, field] : session.fields) {
    const auto numbers = field.all();
    const std::size_t each = numbers.size() / groups_.of_all().sites();
    auto& whole = session_.fields[name] = {std::vector<Complex64>(each * groups_.lattice().sites()), field.hop};
    groups_.hand_out(each, {std::size_t(count()), numbers.data()}, whole.numbers.data());
  }
  session_.ranks_given = groups_.ranks();
  session_.quiet = session.quiet;
  session_.log_level = groups_.own() != 0 ? "error" : session.log_level;
  session_.take_line = [&session](const std::string& line, bool warning) {
    warning ? session.warn(line) : session.info(line);
  };
  session_.wants_end = [&session] { return session.wants_end && session.wants_end(); };  // set anew by each call
}

std::unique_ptr<ColumnGroups> ColumnGroups::chosen(const std::string& split, const std::string& member, bool free,
                                                   int columns, const NamedGauge& of_all, const DomainPointer& all,
                                                   Session& session) {
  Coordinates counts = {1, 1, 1, 1};
  if (!split.empty())
    counts = four_integers(split, member);
  else if (free)
    counts = soonest_groups(all->lattice(), columns);
  if (counts == Coordinates{1, 1, 1, 1}) return nullptr;
  auto made = std::make_unique<ColumnGroups>(counts, of_all, all, session);
  session.info(fmt::format("{} groups of ranks solve for columns of their own, each on {} ({} {})", made->count(),
                           made->domain()->lattice().text(), member, fmt::join(counts, ",")));
  return made;
}

void ColumnGroups::together(const std::function<void()>& work, Stops* stops) const {
  bool stopped = false;
  groups_.all_ranks()->together([&] {
    try {
      work();
    } catch (const Stopped&) {
      stopped = true;
    }
  });
  if (groups_.all_ranks()->largest(stopped) == 0) return;
  if (stops != nullptr) stops->due();
  throw Stopped{};
}

std::vector<SolveReport> ColumnGroups::solve(const SpinorField& b, const std::vector<SpinorField*>& x, bool begins,
                                             const Solve& solve, Stops* stops) const {
  const int columns = (b.rhs() - groups_.own() + count() - 1) / count();
  std::optional<SpinorField> source;
  std::vector<SpinorField> made;
  if (columns > 0) {
    source.emplace(own_, find_precision("double"), Subset::full, columns, b.components());
    for (std::size_t n = 0; n < x.size(); ++n) made.push_back(source->like());
  }
  const auto own = [&](std::size_t n) { return columns > 0 ? &made[n] : nullptr; };
  hand_out(b, columns > 0 ? &*source : nullptr);
  if (begins) hand_out(*x[0], own(0));
  Json mine = Json::array();
  const auto work = [&] {
    if (columns == 0) return;
    for (const SolveReport& r : solve(*source, made)) mine.push_back(to_json(r));
  };
  together(work, stops);
  for (std::size_t n = 0; n < x.size(); ++n) bring_back(own(n), *x[n]);
  const auto bytes = Json::to_cbor(mine);
  std::vector<SolveReport> reports(std::size_t(b.rhs()));
  for (int g = 0; g < count(); ++g) {
    const std::string of_group = groups_.all_ranks()->broadcast({bytes.begin(), bytes.end()}, groups_.first_of(g));
    std::size_t n = std::size_t(g);
    for (const Json& r : Json::from_cbor(of_group)) {
      reports[n] = solve_report_of(r);
      n += std::size_t(count());
    }
  }
  return reports;
}

/// Visits the columns that groups have at a time: visit(first one, one for each group, null where there is none).
template <class Visit>
void ColumnGroups::in_turn(int columns, const Lattice& lattice, int colours, const Visit& visit) const {
  std::vector<HostSpinor> host(std::size_t(std::min(count(), columns)), HostSpinor(lattice, colours));
  for (int first = 0; first < columns; first += count()) {
    std::vector<HostSpinor*> of_groups(std::size_t(count()), nullptr);
    for (int g = 0; g < count() && first + g < columns; ++g) of_groups[std::size_t(g)] = &host[std::size_t(g)];
    visit(first, of_groups);
  }
}

void ColumnGroups::hand_out(const SpinorField& from, SpinorField* to) const {
  HostSpinor whole(groups_.lattice(), from.colours());
  in_turn(from.rhs(), all_->lattice(), from.colours(), [&](int first, const std::vector<HostSpinor*>& of_groups) {
    std::vector<const Complex64*> numbers(of_groups.size(), nullptr);
    for (std::size_t g = 0; g < of_groups.size(); ++g) {
      if (of_groups[g] == nullptr) continue;
      download(from, *of_groups[g], as_stored(), first + static_cast<int>(g));
      numbers[g] = of_groups[g]->site.at(0);
    }
    groups_.hand_out(whole.site.each(), numbers, whole.site.at(0));
    if (numbers[std::size_t(groups_.own())] != nullptr) upload(whole, *to, as_stored(), first / count());
  });
}

void ColumnGroups::bring_back(const SpinorField* from, SpinorField& to) const {
  HostSpinor whole(groups_.lattice(), to.colours());
  in_turn(to.rhs(), all_->lattice(), to.colours(), [&](int first, const std::vector<HostSpinor*>& of_groups) {
    std::vector<Complex64*> numbers(of_groups.size(), nullptr);
    for (std::size_t g = 0; g < of_groups.size(); ++g)
      if (of_groups[g] != nullptr) numbers[g] = of_groups[g]->site.at(0);
    if (numbers[std::size_t(groups_.own())] != nullptr) download(*from, whole, as_stored(), first / count());
    groups_.bring_back(whole.site.each(), whole.site.at(0), numbers);
    for (std::size_t g = 0; g < of_groups.size(); ++g)
      if (of_groups[g] != nullptr) upload(*of_groups[g], to, as_stored(), first + static_cast<int>(g));
  });
}

}  // namespace quarksmith::runs
