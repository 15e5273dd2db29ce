#include "apps/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>

#include "apps/caller.hpp"
#include "apps/interrupt.hpp"
#include "apps/ranks.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/hopping.hpp"
#include "runtime/text.hpp"

namespace quarksmith::apps {

void CommonOptions::add_to(CLI::App& command, unsigned uses) {
  if (uses & computes)
    command.add_option("--device", device, Device::choices() + " or auto (a GPU if there is one)")
        ->capture_default_str();
  if (uses & shares) command.add_option("--grid", grid, "ranks along x,y,z,t (default: with the smallest boundaries)");
  if (uses & crosses)
    command.add_option(
        "--policy", policy,
        fmt::format("how spinors are sent to other ranks: {} (default: by device)", one_of(policy_names())));
  if (uses & reports) command.add_option("--json", json, "write the result as JSON to this file");
  if (uses & (reports | replaces)) command.add_flag("--overwrite", overwrite, "replace files that exist");
  takes_any = (uses & colourful) != 0;
  if (takes_any)
    command.add_option("--colours", colours, "colours N of links in SU(N) (default: those of the file, or 3)")
        ->check(CLI::Range(2, most_colours));
  command.add_flag("--quiet", quiet, "print nothing but results and errors");
  command.add_option("--log-level", log_level, "info, warn or error")
      ->check(CLI::IsMember({"info", "warn", "error"}))
      ->capture_default_str();
}

std::shared_ptr<Communicator> CommonOptions::all_ranks() {
  return caller() != nullptr && caller()->ranks ? caller()->ranks : Communicator::world();
}

Partition CommonOptions::partition() const {
  Partition p{all_ranks(), {}};
  if (!grid.empty()) p.grid = four_integers(grid, "--grid");
  return p;
}

DomainPointer CommonOptions::open_domain(const Lattice& lattice, int reach) const {
  auto domain = std::make_shared<Domain>(lattice, open_device(), all_ranks(), reach);
  if (!policy.empty()) {
    const Policy chosen = policy_of(policy);
    if (lattice.parts() == 1)
      throw UsageError(fmt::format("--policy {} belongs to several ranks, and this is one; leave it out", policy));
    domain->halos().use(chosen);
  }
  return domain;
}

void CommonOptions::require_one_rank(std::string_view command) const {
  const int size = ranks().size();
  if (size > 1)
    throw UsageError(
        fmt::format("{} runs as one process, but {} ranks were started; start it without mpirun", command, size));
}

namespace {

/// What a rank computes on.
struct DeviceOfRank {
  int host;  ///< lowest rank of its host
  bool gpu;
  char address[32];
};

/// All ranks compute on devices of one kind; tells if some share a GPU.
void check_places(const Device& device, const CommonOptions& common) {
  Communicator& ranks = common.ranks();
  DeviceOfRank mine{ranks.host_ranks()[0], device.name() != "cpu", {}};
  device.pci_address().copy(mine.address, sizeof(mine.address) - 1);
  std::vector<DeviceOfRank> all(ranks.size());
  ranks.all_gather(&mine, sizeof(mine), all.data());
  std::set<std::pair<int, std::string>> gpus;
  for (const DeviceOfRank& p : all) {
    if (p.gpu != all[0].gpu)
      throw UsageError(fmt::format("rank {} has {} GPU, rank 0 has {}; use --device cpu, or give each a GPU",
                                   &p - all.data(), p.gpu ? "a" : "no", all[0].gpu ? "one" : "none"));
    gpus.emplace(p.host, p.address);
  }
  if (mine.gpu && gpus.size() < all.size())
    common.info(fmt::format("{} ranks share {} GPU(s)", all.size(), gpus.size()));
}

}  // namespace

std::shared_ptr<Device> CommonOptions::open_device() const {
  auto chosen = Device::select(device, ranks().size() > 1 ? ranks().host_rank() : 0);
  if (ranks().size() > 1) check_places(*chosen, *this);
  if (device == "auto" && chosen->name() == "cpu")
    info(fmt::format("no GPU in use: running on {}", chosen->description()));
  if (caller() != nullptr) caller()->device = chosen->name();
  return chosen;
}

void CommonOptions::write(const std::filesystem::path& path, const std::string& text) const {
  write_text(output(path), text);
}

bool CommonOptions::reports_wanted() const { return !json.empty() || caller() != nullptr; }

void CommonOptions::write_json(const nlohmann::ordered_json& result) const {
  if (caller() != nullptr) caller()->result = result;
  if (!json.empty()) write(json, result.dump(1) + "\n");
}

namespace {

void tell_line(const std::string& line, bool warning) {
  if (caller() != nullptr)
    caller()->tell(line, warning);
  else
    fmt::print(stderr, "quarksmith: {}\n", line);
}

}  // namespace

void CommonOptions::info(const std::string& line) const {
  if (!quiet && log_level == "info" && ranks().rank() == 0) tell_line(line, false);
}

void CommonOptions::warn(const std::string& line) const {
  if (log_level != "error" && ranks().rank() == 0) tell_line(line, true);
}

std::array<double, 4> four_numbers(const std::string& text, const std::string& option) {
  const auto parts = split(text, ',');
  if (parts.size() != 4)
    throw UsageError(fmt::format("{}: '{}' is not four numbers for x,y,z,t separated by commas", option, text));
  std::array<double, 4> result;
  for (int i = 0; i < 4; ++i) result[i] = number(parts[i], option);
  return result;
}

Coordinates four_integers(const std::string& text, const std::string& option) {
  const auto parts = split(text, ',');
  if (parts.size() != 4)
    throw UsageError(fmt::format("{}: '{}' is not four integers for x,y,z,t separated by commas", option, text));
  Coordinates result;
  for (int i = 0; i < 4; ++i) {
    const long long value = integer(parts[i], option);
    if (value < -(1 << 24) || value > (1 << 24)) throw UsageError(fmt::format("{}: {} is out of range", option, value));
    result[i] = static_cast<int>(value);
  }
  return result;
}

namespace {

/// Gauge fields that are made, not read, and the parts of their texts.
const std::map<std::string, std::size_t> made_gauges = {{"unit", 2}, {"weak", 4}, {"hot", 3}, {"peer-random", 3}};

HostGauge make_gauge(const std::string& text, const Partition& partition, int colours) {
  const auto parts = split(text, ':');
  const std::string &kind = parts[0], option = "--gauge " + kind;
  if (parts.size() != made_gauges.at(kind)) throw UsageError(fmt::format("--gauge: '{}' is not {}", text, gauge_forms));
  const Lattice part = partition.part(four_integers(parts[kind == "weak" ? 2 : 1], option));
  if (kind == "unit") return unit_gauge(part, colours);
  const long long seed = integer(parts.back(), option);
  if (seed < 0) throw UsageError(fmt::format("{}: seed {}; use 0 or more", option, seed));
  if (kind == "weak") return weak_gauge(part, number(parts[1], option), seed, colours);
  if (kind == "hot") return hot_gauge(part, seed, colours);
  if (colours != 3) throw UsageError(fmt::format("{} has three colours, not {}; use hot", option, colours));
  return peer_random_gauge(part, seed);
}

/// \throws UsageError links of other colours than a command takes, or than were asked for.
void require_colours(const HostGauge& gauge, const std::string& name, const CommonOptions& common) {
  if (common.colours > 0 && gauge.colours() != common.colours)
    throw UsageError(fmt::format("{}: its links have {} colours, {} were asked for; give the right number, or none",
                                 name, gauge.colours(), common.colours));
  if (gauge.colours() != 3 && common.colours == 0 && !common.takes_any)
    throw UsageError(
        fmt::format("{}: its links have {} colours; this command is for three (heatbath, hmc, smear, flow, "
                    "convert and info take others)",
                    name, gauge.colours()));
}

}  // namespace

bool is_generated(const std::string& gauge) {
  const auto parts = split(gauge, ':');
  return parts.size() > 1 && made_gauges.contains(parts[0]);
}

const HostGauge* links_in_memory(const std::string& name) {
  if (caller() == nullptr) return nullptr;
  const auto found = caller()->gauges.find(name);
  return found == caller()->gauges.end() ? nullptr : &found->second;
}

NamedGauge open_gauge(const std::string& text, const std::string& lattice, const CommonOptions& common) {
  if (is_generated(text) && !lattice.empty())
    throw UsageError(fmt::format(
        "--lattice {} belongs to files that do not record their extents, not to {}; leave it out", lattice, text));
  if (const HostGauge* found = links_in_memory(text)) {
    if (!lattice.empty())
      throw UsageError(fmt::format("--lattice {} belongs to files, not to links in memory; leave it out", lattice));
    if (!common.grid.empty() && four_integers(common.grid, "--grid") != found->lattice.grid())
      throw UsageError(fmt::format("--grid {}: the links in memory are on grid {}; leave it out, or read them with it",
                                   common.grid, fmt::join(found->lattice.grid(), ",")));
    require_colours(*found, "the gauge field", common);
    return {*found, "links in memory"};
  }
  const Partition partition = common.partition();
  if (is_generated(text)) return {make_gauge(text, partition, common.colours > 0 ? common.colours : 3), text};
  std::error_code ignored;
  if (const std::string kind = text.substr(0, text.find(':'));
      kind != text && !std::filesystem::exists(text, ignored)) {
    std::vector<std::string> kinds;
    for (const auto& [name, parts] : made_gauges) kinds.push_back(name);
    if (const std::string meant = suggestion(kind, kinds); !meant.empty())
      throw UsageError(fmt::format("--gauge {}: there is no such file; {}use {}", text, meant, gauge_forms));
  }
  std::optional<Lattice> expected;
  if (!lattice.empty()) expected.emplace(four_integers(lattice, "--lattice"));
  GaugeFile file = read_gauge(text, expected, true, partition);
  require_colours(file.gauge, text, common);
  std::string origin = std::filesystem::path(text).filename().string() + " (" + file.format;
  for (const RecordedCheck& c : file.checks) origin += ", " + c.what + " " + c.recorded;
  if (file.phases_folded) {
    std::string phases;
    for (int mu = 0; mu < directions; ++mu)
      if (file.gauge.phase[mu] != 1.0)
        phases +=
            fmt::format(" {:+.4g}{:+.4g}i in {}", file.gauge.phase[mu].real(), file.gauge.phase[mu].imag(), "xyzt"[mu]);
    common.info(
        fmt::format("{}: the links of the last slice carry a boundary phase ({} ), moved from the links to the "
                    "boundary condition",
                    text, phases));
  }
  origin += ")";
  require_same(common.ranks(), origin, "configuration", "give all hosts the same file");
  return {std::move(file.gauge), origin};
}

void add_allow_non_su3(CLI::App& command, bool& allowed) {
  command.add_flag("--allow-non-su3", allowed, "accept links that are farther than 1e-5 from SU(3)");
}

std::string deviation_text(const Unitarity& u) {
  return fmt::format("{:.1e} from unitarity and {:.1e} from determinant 1", u.unitary, u.determinant);
}

void require_su3(const HostGauge& links, const std::string& origin, bool allowed, const CommonOptions& common) {
  if (allowed) return;
  const Unitarity u = check_unitarity(links, common.ranks());
  if (!is_su3(u))
    throw NotSU3(fmt::format("{}: the links are not SU(3): they deviate by {}; if that is meant, add --allow-non-su3",
                             origin, deviation_text(u)));
}

std::string duration_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const long long s = static_cast<long long>(seconds + 0.5);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
}

std::string output_format(const std::string& name, const std::string& format) {
  if (!format.empty()) return format;
  for (const GaugeFormatInfo& f : writable_formats())
    for (const std::string_view ending : f.endings)
      if (!ending.empty() && name.ends_with(ending)) return std::string(f.name);
  throw UsageError(fmt::format("{}: the name does not tell the format; use --format {}", name, writable_names()));
}

int output_bits(const std::string& format, int bits) {
  for (const GaugeFormatInfo& f : writable_formats())
    if (f.name == format && bits == 0) bits = f.bits;
  return bits != 0 ? bits : 64;
}

void add_format(CLI::App& command, std::string& format, std::string_view of, int* bits) {
  std::vector<std::string> names;
  std::string others;
  for (const GaugeFormatInfo& f : writable_formats()) {
    names.emplace_back(f.name);
    if (f.bits != 0 && f.bits != 64) others += fmt::format(", {} {}", f.name, f.bits);
  }
  command.add_option("--format", format, fmt::format("of {} (default: by its ending)", of))
      ->check(CLI::IsMember(names));
  if (bits != nullptr)
    command.add_option("--bits", *bits, fmt::format("of its reals (default: 64{})", others))
        ->check(CLI::IsMember({32, 64}));
}

Progress::Progress(std::string what, double total, const CommonOptions& common)
    : what_(std::move(what)),
      total_(total),
      terminal_(caller() == nullptr && isatty(STDERR_FILENO) != 0),
      active_(!common.quiet && common.log_level == "info" && common.ranks().rank() == 0),
      start_(now()) {}

Progress::~Progress() {
  if (active_ && terminal_ && width_ > 0) fmt::print(stderr, "\n");
}

void Progress::begin(double done) {
  start_ = now();
  begun_ = done;
}

void Progress::show(double done, const std::string& note) {
  look_for_signals();
  if (!active_) return;
  const double time = now(), pause = terminal_ ? 0.1 : 10;
  if (time - shown_ < pause && done < total_) return;
  shown_ = time;
  const double fraction = total_ > 0 ? std::min(done / total_, 1.0) : 1;
  // An estimate begins with one unit of the work or a hundredth of it, and a second: what comes first is no measure.
  const double made = done - begun_, passed = time - start_;
  const bool known = made >= std::min(1.0, total_ / 100) && passed >= 1;
  std::string line = fmt::format("{} {:3.0f} %", what_, 100 * fraction);
  if (!note.empty()) line += "  " + note;
  if (fraction < 1 && known) line += fmt::format("  {} left", duration_text(passed * (total_ - done) / made));
  if (!terminal_) {
    tell_line(line, false);
    return;
  }
  const int filled = static_cast<int>(20 * fraction);
  line = fmt::format("[{}{}] {}", std::string(filled, '#'), std::string(20 - filled, ' '), line);
  const std::size_t width = line.size();
  if (width < width_) line += std::string(width_ - width, ' ');
  width_ = width;
  fmt::print(stderr, "\r{}", line);
  std::fflush(stderr);
}

}  // namespace quarksmith::apps
