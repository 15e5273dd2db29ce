#include "runtime/io/gauge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <exception>
#include <limits>

#include "runtime/error.hpp"
#include "runtime/fields/host_averages.hpp"
#include "runtime/io/formats.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

/// What a file can be: one format, or two that only the links tell apart.
std::vector<GaugeHead> read_heads(const InputFile& file, const std::optional<Coordinates>& expected) {
  if (file.size() == 0) throw Error(fmt::format("{}: is empty", file.name()));
  std::vector<GaugeHead> heads;
  for (const GaugeFormat* format : listed<GaugeFormat>())
    if (format->sniff(file)) heads.push_back(format->head(file, expected));
  if (heads.empty()) throw Error(fmt::format("{}: unknown format; supported are {}", file.name(), gauge_formats()));
  return heads;
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
    f.emplace(GaugeFile{
        HostGauge(candidate.part, head.colours), head.format, head.bits, head.byte_order, {}, head.notes, false});
  });
  head.read_links(file, f->gauge, communicator);
  if (head.checksum) {
    const std::string computed = head.checksum->text();
    f->checks.push_back({head.checksum_name, head.recorded, computed, head.recorded == computed});
  }
  return std::move(*f);
}

/// What may lie between a plaquette that another program has computed and stored in double and ours: the rounding of a
/// plain sum over so many plaquettes, with a factor for orders that are worse than random ones.
double rounding_of_plaquette(const Lattice& lattice) {
  return std::numeric_limits<double>::epsilon() *
         (16 + 4 * std::sqrt(6.0 * static_cast<double>(lattice.global_sites())));
}

/// Whether the links have the plaquette that the file records.
bool fits(const GaugeFile& f, Communicator& communicator) {
  const double recorded = std::strtod(f.notes.at("PLAQUETTE").c_str(), nullptr);
  return std::abs(host_averages(f.gauge, communicator).plaquette - recorded) <= rounding_of_plaquette(f.gauge.lattice);
}

/// A value of the header against what the links give; a few units of the last printed digit are allowed.
/// \param in_double it is no printed text, but was stored as it was computed.
void check_average(GaugeFile& f, const std::string& key, const std::string& what, double computed, bool in_double) {
  if (!f.notes.contains(key)) return;
  const std::string& text = f.notes[key];
  const double recorded = std::strtod(text.c_str(), nullptr);
  const std::size_t point = text.find('.');
  int digits = 0;
  for (std::size_t i = point;
       point != std::string::npos && ++i < text.size() && std::isdigit(static_cast<unsigned char>(text[i]));)
    ++digits;
  // Averages in the text of a header were often made in single precision.
  const double allowed = in_double ? rounding_of_plaquette(f.gauge.lattice)
                                   : std::max(3 * std::pow(10.0, -digits), f.bits == 32 ? 5e-7 : 1e-9);
  const auto spelled = [&](double x) { return in_double ? fmt::format("{:.16g}", x) : fmt::format("{:.10g}", x); };
  f.checks.push_back({what, spelled(recorded), spelled(computed), std::abs(recorded - computed) <= allowed});
}

const GaugeFormat& check_format(const std::string& name, int bits) {
  if (bits != 32 && bits != 64) throw UsageError(fmt::format("{} bits; use 32 or 64", bits));
  for (const GaugeFormat* format : listed<GaugeFormat>()) {
    if (format->name != name || format->write == nullptr) continue;
    if (format->bits != 0 && format->bits != bits)
      throw UsageError(fmt::format("the {} format holds reals of {} bits; use {} bits, or {}", format->title,
                                   format->bits, format->bits,
                                   writable_names([](const GaugeFormatInfo& f) { return f.bits == 0; })));
    return *format;
  }
  throw UnknownName(fmt::format("gauge format '{}' cannot be written; use {}", name, writable_names()));
}

/// What a format cannot hold, and what no file shall.
void check_writable(const HostGauge& gauge, const GaugeFormat& format, Communicator& communicator) {
  require_spread(gauge.lattice, communicator);
  if (!format.any_links && gauge.colours() != 3)
    throw UsageError(fmt::format("the {} format is for links of three colours, these have {}; write them as {}",
                                 format.title, gauge.colours(),
                                 writable_names([](const GaugeFormatInfo& f) { return f.any_links; })));
  const Unitarity u = check_unitarity(gauge, communicator);
  if (!format.any_links && !is_su3(u))
    throw NotSU3(fmt::format(
        "the {} format is for SU(3) links, but these deviate by {:.1e} from unitarity and {:.1e} from "
        "determinant 1; write them as {}",
        format.title, u.unitary, u.determinant, writable_names([](const GaugeFormatInfo& f) { return f.any_links; })));
}

}  // namespace

std::string gauge_formats() {
  std::string all;
  for (const GaugeFormat* format : listed<GaugeFormat>())
    all += fmt::format("{}{}", all.empty() ? "" : ", ", format->title);
  return all + " (also gzipped)";
}

std::vector<GaugeFormatInfo> known_formats() {
  std::vector<GaugeFormatInfo> all;
  for (const GaugeFormat* format : listed<GaugeFormat>()) all.push_back(*format);
  return all;
}

std::vector<GaugeFormatInfo> writable_formats() {
  std::vector<GaugeFormatInfo> all = known_formats();
  std::erase_if(all, [](const GaugeFormatInfo& f) { return f.name.empty(); });
  return all;
}

std::string writable_names(bool (*with)(const GaugeFormatInfo&)) {
  std::vector<std::string_view> names;
  for (const GaugeFormatInfo& format : writable_formats())
    if (with == nullptr || with(format)) names.push_back(format.name);
  return one_of(names);
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
  check_average(result, "PLAQUETTE", "plaquette", averages.plaquette, candidates.front().head.plaquette_in_double);
  check_average(result, "LINK_TRACE", "link trace", averages.link_trace, false);
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
  const GaugeFormat& row = check_format(format, bits);
  check_writable(gauge, row, output.communicator());
  row.write(output, gauge, bits, extra);
}

void write_gauge(const std::filesystem::path& path, const HostGauge& gauge, const std::string& format, int bits,
                 const std::vector<ExtraRecord>& extra, Communicator& communicator) {
  check_format(format, bits);
  require_spread(gauge.lattice, communicator);
  Output output(path, Existing::replace, communicator);
  write_gauge(output, gauge, format, bits, extra);
}

}  // namespace quarksmith
