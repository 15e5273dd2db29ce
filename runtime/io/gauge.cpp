#include "runtime/io/gauge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <exception>

#include "runtime/error.hpp"
#include "runtime/fields/host_averages.hpp"
#include "runtime/io/formats.hpp"

namespace quarksmith {
namespace {

bool starts_like_a_number(const std::string& head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string::npos && std::strchr("+-.0123456789", head[first]) != nullptr &&
         head.find_first_not_of(" \t\r\n+-.,0123456789eEdDnaifINAF") == std::string::npos;
}

bool is_milc(const std::string& head) {
  return head.starts_with(std::string("\x87\x4e\0\0", 4)) || head.starts_with(std::string("\0\0\x4e\x87", 4));
}

/// What a file can be: one format, or two that only the links tell apart.
std::vector<GaugeHead> read_heads(const InputFile& file, const std::optional<Coordinates>& expected) {
  const std::string head = file.head(64);
  if (head.empty()) throw Error(fmt::format("{}: is empty", file.name()));
  if (head.starts_with("\x45\x67\x89\xab")) return {lime_head(file, expected)};
  if (head.starts_with("BEGIN_HEADER")) return {nersc_head(file)};
  if (is_milc(head)) return {milc_head(file)};
  if (looks_like_plain_binary(file)) return plain_binary_heads(file);
  if (starts_like_a_number(head)) {
    if (!expected)
      throw UsageError(
          fmt::format("{}: text does not record its extents; give them with --lattice X,Y,Z,T", file.name()));
    return {text_head(file, *expected)};
  }
  throw Error(fmt::format("{}: unknown format; supported are {}", file.name(), gauge_formats()));
}

/// A head, and the part of its lattice that this rank reads.
struct Candidate {
  GaugeHead head;
  Lattice part;
};

/// Those heads that agree with what is expected and with the grid of ranks.
std::vector<Candidate> candidates_of(const InputFile& file, const std::optional<Coordinates>& expected,
                                     const Partition& partition) {
  std::vector<Candidate> candidates;
  std::exception_ptr first;
  for (GaugeHead& head : read_heads(file, expected)) {
    try {
      checked_extent(file, head.extent, expected);
      const Lattice part = partition.part(head.extent);
      candidates.push_back({std::move(head), part});
    } catch (const UsageError&) {
      if (!first) first = std::current_exception();
    }
  }
  if (candidates.empty()) std::rethrow_exception(first);
  return candidates;
}

GaugeFile read_part(const InputFile& file, const Candidate& candidate, Communicator& communicator) {
  const GaugeHead& head = candidate.head;
  std::optional<GaugeFile> f;
  communicator.together([&] {  // memory may be short on one rank alone
    f.emplace(GaugeFile{HostGauge(candidate.part), head.format, head.bits, head.byte_order, {}, head.notes, false});
  });
  head.read_links(file, f->gauge, communicator);
  if (head.checksum) {
    const std::string computed = head.checksum->text();
    f->checks.push_back({head.checksum_name, head.recorded, computed, head.recorded == computed});
  }
  return std::move(*f);
}

/// Whether the links have the plaquette that the file records.
bool fits(const GaugeFile& f, Communicator& communicator) {
  const double recorded = std::strtod(f.notes.at("PLAQUETTE").c_str(), nullptr);
  return std::abs(host_averages(f.gauge, communicator).plaquette - recorded) < 1e-9;
}

/// A value of the header against what the links give; a few units of the last printed digit are allowed.
void check_average(GaugeFile& f, const std::string& key, const std::string& what, double computed) {
  if (!f.notes.contains(key)) return;
  const std::string& text = f.notes[key];
  const double recorded = std::strtod(text.c_str(), nullptr);
  const std::size_t point = text.find('.');
  int digits = 0;
  for (std::size_t i = point;
       point != std::string::npos && ++i < text.size() && std::isdigit(static_cast<unsigned char>(text[i]));)
    ++digits;
  // Averages in a header were often made in single precision.
  const double allowed = std::max(3 * std::pow(10.0, -digits), f.bits == 32 ? 5e-7 : 1e-9);
  f.checks.push_back({what, fmt::format("{:.10g}", recorded), fmt::format("{:.10g}", computed),
                      std::abs(recorded - computed) <= allowed});
}

/// A format that can be written.
struct Writable {
  std::string_view name, title;
  int bits;        ///< of its reals; 0: 32 or 64
  bool any_links;  ///< holds links that are not SU(3) too, as fat ones
};
constexpr Writable writable[] = {{"ildg", "ILDG", 0, true},
                                 {"nersc", "NERSC", 0, false},
                                 {"milc", "MILC", 32, false},
                                 {"openqcd", "openQCD", 64, false}};

const Writable& check_format(const std::string& name, int bits) {
  if (bits != 32 && bits != 64) throw UsageError(fmt::format("{} bits; use 32 or 64", bits));
  const auto* format =
      std::find_if(std::begin(writable), std::end(writable), [&](const Writable& w) { return w.name == name; });
  if (format == std::end(writable))
    throw UnknownName(fmt::format("gauge format '{}' cannot be written; use ildg, nersc, milc or openqcd", name));
  if (format->bits != 0 && format->bits != bits)
    throw UsageError(fmt::format("the {} format holds reals of {} bits; use {} bits, or ildg", format->title,
                                 format->bits, format->bits));
  return *format;
}

/// What a format cannot hold, and what no file shall.
void check_writable(const HostGauge& gauge, const std::string& format, int bits, Communicator& communicator) {
  const Writable& writes = check_format(format, bits);
  require_spread(gauge.lattice, communicator);
  const Unitarity u = check_unitarity(gauge, communicator);
  if (!writes.any_links && !is_su3(u))
    throw NotSU3(
        fmt::format("the {} format is for SU(3) links, but these deviate by {:.1e} from unitarity and {:.1e} from "
                    "determinant 1; write them as ildg",
                    writes.title, u.unitary, u.determinant));
}

}  // namespace

std::string gauge_formats() {
  return "ILDG and SciDAC (LIME), NERSC, MILC v5, DDalphaAMG, openQCD, Bridge++ text (also gzipped)";
}

GaugeFile read_gauge(const std::filesystem::path& path, const std::optional<Lattice>& lattice, bool verify,
                     const Partition& partition) {
  Communicator& communicator = *partition.communicator;
  std::unique_ptr<InputFile> file;
  std::vector<Candidate> candidates;
  communicator.together([&] {
    file = lattice ? std::make_unique<InputFile>(path, most_text_bytes(lattice->global_extent()))
                   : std::make_unique<InputFile>(path);
    candidates = candidates_of(*file, lattice ? std::optional(lattice->global_extent()) : std::nullopt, partition);
  });
  GaugeFile result = read_part(*file, candidates.front(), communicator);
  if (candidates.size() > 1 && !fits(result, communicator))
    if (GaugeFile other = read_part(*file, candidates.back(), communicator); fits(other, communicator))
      result = std::move(other);
  try {
    check_unitarity(result.gauge, communicator);
  } catch (const BadData& error) {
    throw BadData(fmt::format("{}: {}", file->name(), error.what()));
  }
  const GaugeAverages averages = host_averages(result.gauge, communicator);
  check_average(result, "PLAQUETTE", "plaquette", averages.plaquette);
  check_average(result, "LINK_TRACE", "link trace", averages.link_trace);
  if (verify)
    for (const RecordedCheck& c : result.checks)
      if (!c.agrees)
        throw Error(fmt::format("{}: {} recorded as {}, the links give {}: the file is damaged; fetch it again",
                                file->name(), c.what, c.recorded, c.computed));
  result.phases_folded = fold_boundary_phases(result.gauge, communicator);
  return result;
}

void write_gauge(Output& output, const HostGauge& gauge, const std::string& format, int bits,
                 const std::vector<ExtraRecord>& extra) {
  check_writable(gauge, format, bits, output.communicator());
  if (format == "ildg")
    write_ildg(output, gauge, bits, extra);
  else if (format == "nersc")
    write_nersc(output, gauge, bits);
  else if (format == "openqcd")
    write_openqcd(output, gauge);
  else
    write_milc(output, gauge);
}

void write_gauge(const std::filesystem::path& path, const HostGauge& gauge, const std::string& format, int bits,
                 const std::vector<ExtraRecord>& extra, Communicator& communicator) {
  check_format(format, bits);
  require_spread(gauge.lattice, communicator);
  Output output(path, Existing::replace, communicator);
  write_gauge(output, gauge, format, bits, extra);
}

}  // namespace quarksmith
