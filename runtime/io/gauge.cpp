#include "runtime/io/gauge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

#include "runtime/error.hpp"
#include "runtime/fields/host_averages.hpp"
#include "runtime/io/formats.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

/// What a file of no known format is, by how it begins.
std::string beginning_of(const InputFile& file) {
  std::string begin = file.head(40);
  if (begin.starts_with("\x89HDF\r\n\x1a\n")) return "HDF5; `quarksmith info` shows what it holds";
  const auto is_text = [](unsigned char c) { return c >= ' ' || (c >= '\t' && c <= '\r'); };
  if (std::ranges::all_of(begin, is_text) && printable(begin.substr(0, 1)) == begin.substr(0, 1))
    return fmt::format("text that begins with '{}'", printable(trimmed(begin.substr(0, begin.find('\n', 1)))));
  std::string bytes;
  for (const unsigned char c : begin.substr(0, 8)) bytes += fmt::format(" {:02x}", c);
  return fmt::format("{} bytes that begin with{}", file.size(), bytes);
}

/// What a file can be: one reading of it, or several that only the links tell apart.
std::vector<GaugeHead> read_heads(const InputFile& file, const std::optional<Coordinates>& expected) {
  if (file.size() == 0) throw Error(fmt::format("{}: is empty", file.name()));
  std::vector<GaugeHead> heads;
  for (const GaugeFormat* format : listed<GaugeFormat>())
    if (format->sniff(file))
      for (GaugeHead& head : format->heads(file, expected)) heads.push_back(std::move(head));
  if (heads.empty())
    throw Error(
        fmt::format("{}: no gauge field but {}; formats are {}", file.name(), beginning_of(file), gauge_formats()));
  return heads;
}

/// A head, and the part of its lattice that this rank reads.
struct Candidate {
  GaugeHead head;
  Lattice local;
};

/// Those heads that agree with what is expected and with the grid of ranks.
std::vector<Candidate> candidates_of(const InputFile& file, const std::optional<Coordinates>& expected,
                                     const Partition& partition) {
  std::vector<Candidate> candidates;
  std::exception_ptr first;
  for (GaugeHead& head : read_heads(file, expected)) {
    try {
      checked_extent(file, head.extent, expected);
      const Lattice local = partition.local_lattice(head.extent);
      candidates.push_back({std::move(head), local});
    } catch (const UsageError&) {
      if (!first) first = std::current_exception();
    }
  }
  if (candidates.empty()) std::rethrow_exception(first);
  return candidates;
}

/// What may lie between a plaquette that another program has computed and stored in double and ours: the rounding of a
/// plain sum over so many plaquettes, with a factor for orders that are worse than random ones.
double rounding_of_plaquette(const Lattice& lattice) {
  return std::numeric_limits<double>::epsilon() *
         (16 + 4 * std::sqrt(6.0 * static_cast<double>(lattice.global_sites())));
}

/// The most by which an average in the text of a header may be off: it may have been summed in single precision, but
/// then only a checksum of the links can say that they are the right ones.
constexpr double single_sum = 1e-5;

/// A unit in the last place of a number as it is written.
double last_place(const std::string& text) {
  const std::size_t exponent = std::min(text.find_first_of("eE"), text.size());
  const std::size_t point = std::min(text.find('.'), exponent);
  const long long decimals = point < exponent ? static_cast<long long>(exponent - point) - 1 : 0;
  const long long power = exponent < text.size() ? as_integer(text.substr(exponent + 1)).value_or(0) : 0;
  return std::pow(10.0, static_cast<double>(power - decimals));
}

/// A recorded average against what the links give; a few units of the last printed digit are allowed.
void check_average(GaugeFile& f, const RecordedAverage& average, double computed, bool sound) {
  const auto as_text = [&](double x) { return fmt::format("{:.{}g}", x, average.in_double ? 16 : 10); };
  const std::optional<double> recorded = as_number(average.text);
  if (!recorded) {
    f.checks.push_back({average.what, printable(average.text.substr(0, 60)), as_text(computed), false});
    return;
  }
  constexpr double most = 1e-3;  // digits that are not there prove nothing
  const double difference = std::abs(*recorded - computed);
  const double allowed = average.in_double ? rounding_of_plaquette(f.gauge.lattice)
                                           : std::clamp(3 * last_place(average.text), f.bits == 32 ? 5e-7 : 1e-9, most);
  const bool agrees = difference <= allowed, summed = sound && difference <= single_sum;
  f.checks.push_back({average.what, as_text(*recorded), as_text(computed), agrees || summed});
  if (!agrees && summed)
    f.remarks.push_back(
        fmt::format("{} recorded as {}, the links give {}: accepted, since the checksum of the links "
                    "agrees",
                    average.what, as_text(*recorded), as_text(computed)));
}

/// Collective. The links as they are stored: with what a boundary may have multiplied them by.
GaugeFile read_part(const InputFile& file, const Candidate& candidate, Communicator& communicator) {
  const GaugeHead& head = candidate.head;
  std::optional<GaugeFile> f;
  communicator.together([&] {  // memory may be short on one rank alone
    f.emplace(GaugeFile{
        HostGauge(candidate.local, head.colours), head.format, head.bits, head.byte_order, {}, head.notes, false, {}});
  });
  head.read_links(file, f->gauge, communicator);
  bool sound = false;
  if (head.checksum) {
    const std::string computed = head.checksum->text();
    sound = head.recorded == computed;
    f->checks.push_back({head.checksum_name, head.recorded, computed, sound});
  }
  if (!head.remark.empty()) f->remarks.push_back(head.remark);
  if (!head.averages.empty()) {
    const GaugeAverages averages = host_averages(f->gauge, communicator);
    for (const RecordedAverage& average : head.averages) check_average(*f, average, averages.*average.value, sound);
  }
  return std::move(*f);
}

/// In the wrong byte order links are not.
bool is_unitary(const HostGauge& gauge, Communicator& communicator) {
  try {
    return is_su3({.unitary = check_unitarity(gauge, communicator).unitary});  // a boundary may be in the determinant
  } catch (const BadData&) {
    return false;
  }
}

/// The reading with most of what the file records confirmed by the links; of equals the first.
GaugeFile read_likeliest(const InputFile& file, const std::vector<Candidate>& candidates, Communicator& communicator) {
  GaugeFile best = read_part(file, candidates.front(), communicator);
  if (candidates.size() == 1) return best;
  const auto agreeing = [&](const GaugeFile& f) {
    return std::count_if(f.checks.begin(), f.checks.end(), [](const RecordedCheck& c) { return c.agrees; }) +
           (is_unitary(f.gauge, communicator) ? 1 : 0);
  };
  auto most = agreeing(best);
  for (std::size_t n = 1; n < candidates.size() && most <= std::ssize(best.checks); ++n) {
    GaugeFile other = read_part(file, candidates[n], communicator);
    if (const auto count = agreeing(other); count > most) {
      best = std::move(other);
      most = count;
    }
  }
  return best;
}

/// What is accepted of links that do not give what their file records.
void check_records(const InputFile& file, GaugeFile& f, bool verify) {
  for (const RecordedCheck& c : f.checks) {
    if (c.agrees) continue;
    const std::string differs = fmt::format("{} recorded as {}, the links give {}", c.what, c.recorded, c.computed);
    if (verify) throw Error(fmt::format("{}: {}: the file is damaged; fetch it again", file.name(), differs));
    f.remarks.push_back(differs + ": ignored");
  }
}

/// \throws Error links whose colours follow from the size of the file alone are not unitary.
void require_colours_of_size(const InputFile& file, const GaugeHead& head, const Unitarity& u) {
  if (head.colours_by_size && head.colours != 3 && !is_su3({.unitary = u.unitary}))
    throw Error(
        fmt::format("{}: does not record the number of colours; as links of {} colours, which its size implies "
                    "on a {} lattice, they are not unitary; give the right --lattice",
                    file.name(), head.colours, extent_text(head.extent)));
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
  GaugeFile result = read_likeliest(*file, candidates, communicator);
  try {
    require_colours_of_size(*file, candidates.front().head, check_unitarity(result.gauge, communicator));
  } catch (const BadData& error) {
    throw BadData(fmt::format("{}: {}", file->name(), error.what()));
  }
  check_records(*file, result, verify);
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
