#include "apps/options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdio>

#include "runtime/error.hpp"

namespace quarksmith::apps {

void CommonOptions::add_to(CLI::App& command) {
  command.add_option("--device", device, "cpu, cuda, cuda:N or auto (a GPU if there is one)")->capture_default_str();
  command.add_option("--json", json, "write the result as JSON to this file");
  command.add_flag("--quiet", quiet, "print nothing but results and errors");
  command.add_option("--log-level", log_level, "info, warn or error")
      ->check(CLI::IsMember({"info", "warn", "error"}))
      ->capture_default_str();
}

std::shared_ptr<Device> CommonOptions::open_device() const {
  auto chosen = Device::select(device);
  if (device == "auto" && chosen->name() == "cpu")
    info(fmt::format("no GPU in use: running on {}", chosen->description()));
  return chosen;
}

void CommonOptions::write_json(const nlohmann::ordered_json& result) const {
  if (!json.empty()) write_text(json, result.dump(1) + "\n");
}

void CommonOptions::info(const std::string& line) const {
  if (!quiet && log_level == "info") fmt::print(stderr, "quarksmith: {}\n", line);
}

void CommonOptions::warn(const std::string& line) const {
  if (log_level != "error") fmt::print(stderr, "quarksmith: {}\n", line);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

double number(const std::string& text, const std::string& option) {
  double value = 0;
  const char *begin = text.data(), *end = begin + text.size();
  if (const auto [rest, error] = std::from_chars(begin, end, value); error != std::errc() || rest != end)
    throw UsageError(fmt::format("{}: '{}' is not a number", option, text));
  return value;
}

long long integer(const std::string& text, const std::string& option) {
  long long value = 0;
  const char *begin = text.data(), *end = begin + text.size();
  if (const auto [rest, error] = std::from_chars(begin, end, value); error != std::errc() || rest != end)
    throw UsageError(fmt::format("{}: '{}' is not an integer", option, text));
  return value;
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

NamedGauge open_gauge(const std::string& text, const std::string& lattice, const CommonOptions& common) {
  const auto parts = split(text, ':');
  const std::string form = "--gauge: '" + text +
                           "' is not FILE, unit:X,Y,Z,T, weak:EPS:X,Y,Z,T:SEED, hot:X,Y,Z,T:SEED or "
                           "peer-random:X,Y,Z,T:SEED";
  if (parts[0] == "unit" && parts.size() > 1) {
    if (parts.size() != 2) throw UsageError(form);
    return {unit_gauge(Lattice(four_integers(parts[1], "--gauge unit"))), text};
  }
  if ((parts[0] == "hot" || parts[0] == "peer-random") && parts.size() > 1) {
    if (parts.size() != 3) throw UsageError(form);
    const Lattice extents(four_integers(parts[1], "--gauge " + parts[0]));
    const long long seed = integer(parts[2], "--gauge " + parts[0]);
    return {parts[0] == "hot" ? hot_gauge(extents, seed) : peer_random_gauge(extents, seed), text};
  }
  if (parts[0] == "weak" && parts.size() > 1) {
    if (parts.size() != 4) throw UsageError(form);
    return {weak_gauge(Lattice(four_integers(parts[2], "--gauge weak")), number(parts[1], "--gauge weak"),
                       integer(parts[3], "--gauge weak")),
            text};
  }
  std::optional<Lattice> expected;
  if (!lattice.empty()) expected.emplace(four_integers(lattice, "--lattice"));
  GaugeFile file = read_gauge(text, expected);
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
  return {std::move(file.gauge), origin + ")"};
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string duration_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const long long s = static_cast<long long>(seconds + 0.5);
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
}

Progress::Progress(std::string what, double total, const CommonOptions& common)
    : what_(std::move(what)),
      total_(total),
      terminal_(isatty(STDERR_FILENO) != 0),
      active_(!common.quiet && common.log_level == "info"),
      start_(now()) {}

Progress::~Progress() {
  if (active_ && terminal_ && width_ > 0) fmt::print(stderr, "\n");
}

void Progress::show(double done, const std::string& note) {
  if (!active_) return;
  const double time = now(), pause = terminal_ ? 0.1 : 10;
  if (time - shown_ < pause && done < total_) return;
  shown_ = time;
  const double fraction = total_ > 0 ? std::min(done / total_, 1.0) : 1;
  const double left = fraction > 0 ? (time - start_) * (1 / fraction - 1) : 0;
  std::string line = fmt::format("{} {:3.0f} %", what_, 100 * fraction);
  if (!note.empty()) line += "  " + note;
  if (fraction < 1) line += fmt::format("  {} left", duration_text(left));
  if (!terminal_) {
    fmt::print(stderr, "quarksmith: {}\n", line);
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
