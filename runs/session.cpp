#include "runs/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>

#include "runs/stops.hpp"
#include "runs/table_reader.hpp"
#include "runs/ranks.hpp"
#include "runtime/error.hpp"
#include "runtime/fields/hopping.hpp"
#include "runtime/fields/link_check.hpp"
#include "runtime/text.hpp"

namespace quarksmith::runs {

void Session::list(Members& members) {
  auto add = members.of(*this);
  if (uses & computes)
    add("device", device, Device::choices() + " or auto (a GPU if there is one)")
        .offers(std::array{"auto"})
        .offers(target_names());
  if (uses & shares) add("grid", grid, "ranks along x,y,z,t (default: with the smallest boundaries)");
  if (uses & crosses)
    add("policy", policy,
        fmt::format("how spinors are sent to other ranks: {} (default: by device)", one_of(policy_names())))
        .offers(policy_names());
  if (uses & reports) add("json", json, "write the result as JSON to this file");
  if (uses & (reports | replaces)) add("overwrite", overwrite, "replace files that exist");
  if (uses & colourful)
    add("colours", colours, "colours N of links in SU(N) (default: those of the file, or 3)")
        .range(2, most_colours)
        .open();
  if (uses & reads)
    add("ignore_checksum", ignore_checksum,
        "read configurations whose recorded checksums, plaquette or link trace are others, with a warning");
  add("quiet", quiet, "print nothing but results and errors");
  add("log_level", log_level, "info, warn or error").among({"info", "warn", "error"});
}

Partition Session::partition() const {
  Partition p{all_ranks(), {}, lattice_given};
  if (!grid.empty()) p.grid = four_integers(grid, "--grid");
  return p;
}

DomainPointer Session::open_domain(const Lattice& lattice, int reach) {
  auto domain = std::make_shared<Domain>(lattice, open_device(), all_ranks(), reach);
  if (!policy.empty()) {
    const Policy chosen = policy_of(policy);
    if (lattice.ranks() == 1)
      throw UsageError(fmt::format("--policy {} belongs to several ranks, and this is one; leave it out", policy));
    domain->halos().use(chosen);
  }
  return domain;
}

void Session::require_one_rank(std::string_view command) const {
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

/// Checks that all ranks compute on devices of one kind; reports if some share a GPU.
void check_places(const Device& device, Session& session) {
  Communicator& ranks = session.ranks();
  DeviceOfRank mine{ranks.host_ranks()[0], device.name() != "cpu", {}};
  device.identity().pci_address.copy(mine.address, sizeof(mine.address) - 1);
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
    session.info(fmt::format("{} ranks share {} GPU(s)", all.size(), gpus.size()));
}

}  // namespace

std::shared_ptr<Device> Session::open_device() {
  auto chosen = Device::select(device, ranks().size() > 1 ? ranks().host_rank() : 0);
  if (!opened_.empty()) return chosen;  // said and checked
  if (ranks().size() > 1) check_places(*chosen, *this);
  if (device == "auto" && chosen->name() == "cpu")
    info(fmt::format("no GPU in use: running on {}", chosen->description()));
  opened_ = chosen->name();
  return chosen;
}

void Session::write(const std::filesystem::path& path, const std::string& text) { write_text(output(path), text); }

void Session::report(const std::string& result) {
  reported_ = result;
  if (!json.empty()) write(json, result + "\n");
}

void Session::print(const std::string& text) {
  if (take_text)
    take_text(text);
  else if (!in_memory)
    fmt::print("{}", text), std::fflush(stdout);  // tables grow line by line
}

namespace {

void log_line(const Session& session, const std::string& line, bool warning) {
  if (session.take_line)
    session.take_line(line, warning);
  else
    fmt::print(stderr, "quarksmith: {}\n", line);
}

}  // namespace

bool Session::shows_progress() const { return !quiet && log_level == "info" && ranks().rank() == 0; }

bool Session::has_terminal() const { return !take_line && isatty(STDERR_FILENO) != 0; }

void Session::info(const std::string& line) const {
  if (!quiet && log_level == "info" && ranks().rank() == 0) log_line(*this, line, false);
}

void Session::warn(const std::string& line) const {
  if (log_level != "error" && ranks().rank() == 0) log_line(*this, line, true);
}

void Session::warn_once(const std::string& subject, const std::string& line) {
  if (is_first(subject)) warn(fmt::format("{}: {}", subject, line));
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
  const Lattice local = partition.local_lattice(four_integers(parts[kind == "weak" ? 2 : 1], option));
  if (kind == "unit") return unit_gauge(local, colours);
  std::uint64_t seed = 0;
  const std::string& digits = parts.back();
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  if (error != std::errc() || rest != digits.data() + digits.size())
    throw UsageError(fmt::format("{}: seed '{}'; use a whole number from 0 to {}", option, digits, UINT64_MAX));
  if (kind == "weak") return weak_gauge(local, number(parts[1], option), seed, colours);
  if (kind == "hot") return hot_gauge(local, seed, colours);
  if (colours != 3) throw UsageError(fmt::format("{} has three colours, not {}; use hot", option, colours));
  return peer_random_gauge(local, seed);
}

}  // namespace

void require_colours(int colours, const std::string& name, Session& session) {
  if (colours < 2)
    throw UsageError(
        fmt::format("{}: its links have one colour; use links of SU(N), N from 2 to {}", name, most_colours));
  if (session.colours > 0 && colours != session.colours)
    throw UsageError(fmt::format("{}: its links have {} colours, {} were asked for; give the right number, or none",
                                 name, colours, session.colours));
  if (colours != 3 && session.colours == 0 && !(session.uses & Session::colourful))
    throw UsageError(
        fmt::format("{}: its links have {} colours; this command is for three (heatbath, hmc, smear, flow, "
                    "convert and info take others)",
                    name, colours));
}

Table Session::table(const std::filesystem::path& path) const {
  const auto found = tables.find(path.string());
  return found == tables.end() ? read_toml(path) : found->second;
}

bool is_generated(const std::string& gauge) {
  const auto parts = split(gauge, ':');
  return parts.size() > 1 && made_gauges.contains(parts[0]);
}

const GaugeLinks* links_in_memory(const std::string& name, const Session& session) {
  const auto found = session.gauges.find(name);
  return found == session.gauges.end() ? nullptr : &found->second;
}

NamedGauge open_gauge(const std::string& text, const std::string& lattice, Session& session) {
  if (is_generated(text) && !lattice.empty())
    throw UsageError(fmt::format(
        "--lattice {} belongs to files that do not record their extents, not to {}; leave it out", lattice, text));
  if (const GaugeLinks* found = links_in_memory(text, session)) {
    if (!lattice.empty())
      throw UsageError(fmt::format("--lattice {} belongs to files, not to links in memory; leave it out", lattice));
    if (!session.grid.empty() && four_integers(session.grid, "--grid") != found->lattice().grid())
      throw UsageError(fmt::format("--grid {}: the links in memory are on grid {}; leave it out, or read them with it",
                                   session.grid, fmt::join(found->lattice().grid(), ",")));
    require_colours(found->colours(), "the gauge field", session);
    return {*found, "links in memory"};
  }
  const Partition partition = session.partition();
  if (is_generated(text)) return {make_gauge(text, partition, session.colours > 0 ? session.colours : 3), text};
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
  GaugeFile file = read_gauge(text, expected, !session.ignore_checksum, partition);
  require_colours(file.gauge.colours(), text, session);
  std::string origin = std::filesystem::path(text).filename().string() + " (" + file.format;
  for (const RecordedCheck& c : file.checks)
    origin += ", " + c.what + " " + c.recorded + (c.agrees ? "" : " (ignored)");
  for (const std::string& remark : file.remarks) session.warn(text + ": " + remark);
  if (file.phases_folded) {
    std::string phases;
    for (int mu = 0; mu < directions; ++mu)
      if (file.gauge.phase[mu] != 1.0)
        phases +=
            fmt::format(" {:+.4g}{:+.4g}i in {}", file.gauge.phase[mu].real(), file.gauge.phase[mu].imag(), "xyzt"[mu]);
    session.info(
        fmt::format("{}: the links of the last slice carry a boundary phase ({} ), moved from the links to the "
                    "boundary condition",
                    text, phases));
  }
  origin += ")";
  require_same(session.ranks(), origin, "configuration", "give all hosts the same file");
  return {std::move(file.gauge), origin};
}

void list_allow_non_su3(Members::Adder add, bool& allowed) {
  add("allow_non_su3", allowed, "accept links that are farther than 1e-5 from SU(3)");
}

std::string deviation_text(const Unitarity& u) {
  return fmt::format("{:.1e} from unitarity and {:.1e} from determinant 1", u.unitary, u.determinant);
}

void require_su3(const GaugeLinks& links, const std::string& origin, bool allowed, Session& session) {
  if (allowed || surely_su3(links.bound())) return;
  const Unitarity u = check_unitarity(links, session.ranks());
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

void list_format(Members::Adder add, std::string& format, std::string_view of, int* bits) {
  std::vector<std::string> names;
  std::string others;
  for (const GaugeFormatInfo& f : writable_formats()) {
    names.emplace_back(f.name);
    if (f.bits != 0 && f.bits != 64) others += fmt::format(", {} {}", f.name, f.bits);
  }
  add("format", format, fmt::format("of {} (default: by its ending)", of)).among(names);
  if (bits != nullptr) add("bits", *bits, fmt::format("of its reals (default: 64{})", others)).among({32, 64}).open();
}

Progress::Progress(std::string what, double total, Session& session)
    : session_(session),
      what_(std::move(what)),
      total_(total),
      terminal_(session.has_terminal()),
      active_(session.shows_progress()),
      start_(now()) {}

Progress::~Progress() {
  if (active_ && terminal_ && width_ > 0) fmt::print(stderr, "\n");
}

void Progress::begin(double done) {
  start_ = now();
  begun_ = done;
}

void Progress::show(double done, const std::string& note) {
  session_.look();
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
    log_line(session_, line, false);
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

}  // namespace quarksmith::runs
