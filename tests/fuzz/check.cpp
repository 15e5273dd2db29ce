#include "tests/fuzz/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>

#include "runtime/error.hpp"
#include "runtime/io/record.hpp"

namespace quarksmith::fuzz {
namespace {

using Kind = Verdict::Kind;

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::equal(reinterpret_cast<const char*>(&a), reinterpret_cast<const char*>(&a + 1),
                    reinterpret_cast<const char*>(&b));
}

/// One line that names the file, short enough to read.
Verdict judge_error(const std::string& what, const std::filesystem::path& path) {
  const bool named = what.find(path.filename().string()) != std::string::npos;
  const bool line = std::none_of(what.begin(), what.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (named && line && what.size() < 1000) return {Kind::refused, what};
  return {Kind::report, fmt::format("an error that does not name the file in one line: {:?}", what.substr(0, 300))};
}

bool same_links(const GaugeFile& a, const GaugeFile& b) {
  if (a.gauge.lattice.extent() != b.gauge.lattice.extent()) return false;
  for (int mu = 0; mu < directions; ++mu)
    if (!same_bits(a.gauge.phase[mu], b.gauge.phase[mu])) return false;
  for (std::size_t n = 0; n < a.gauge.site.size(); ++n)
    if (!same_bits(a.gauge.site[n], b.gauge.site[n])) return false;
  return true;
}

/// Whether MILC's sums, recomputed here, are those of a file: exclusive ors of 32-bit words, turned by their number
/// modulo 29 and 31. Words and bytes that change places may keep both.
bool has_milc_sums(const std::filesystem::path& path) {
  constexpr std::size_t head = 96;
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto word = [&](std::size_t at) {
    std::uint32_t w = 0;
    std::memcpy(&w, bytes.data() + at, 4);
    return w;
  };
  if (bytes.size() < head) return false;
  std::uint32_t sums[2] = {0, 0};
  for (std::size_t n = 0; head + 4 * n + 4 <= bytes.size(); ++n) {
    sums[0] ^= std::rotl(word(head + 4 * n), int(n % 29));
    sums[1] ^= std::rotl(word(head + 4 * n), int(n % 31));
  }
  return sums[0] == word(head - 8) && sums[1] == word(head - 4);
}

Verdict check_links(const Original& original, const std::filesystem::path& path, Dice& dice) {
  const bool text = original.name == "text";
  const GaugeFile file = read_gauge(path, text || dice.chance(4) ? std::optional(lattice()) : std::nullopt);
  if (original.name == "ildg64") {
    const std::string note = read_lime_text(path, note_record);
    if (!note.empty() && note != note_text) return {Kind::silent, "another text in a record"};
  }
  if (same_links(file, *original.links)) return {Kind::unchanged, ""};
  if (original.protection == Protection::none) return {Kind::unprotected, ""};
  // A container without its checksum is none of the formats with one; `info` says so.
  if (file.checks.empty()) return {Kind::unprotected, ""};
  if (original.protection == Protection::numbers && file.gauge.lattice != lattice()) return {Kind::unprotected, ""};
  if (original.name == "milc" && has_milc_sums(path)) return {Kind::unprotected, ""};
  return {Kind::silent, fmt::format("read as {} with other links", file.format)};
}

bool same_column(const HostSpinor& a, const HostSpinor& b, const PropagatorForm& form) {
  for (std::size_t n = 0; n < a.site.size(); ++n)
    for (int k = 0; k < form.components(); ++k)
      if (!same_bits(a.site[n][k], b.site[n][k])) return false;
  return true;
}

bool same_report(const ColumnReport& a, const ColumnReport& b) {
  return a.iterations == b.iterations && a.residual == b.residual && a.solver == b.solver &&
         a.precision == b.precision && a.midpoint == b.midpoint;
}

/// All columns that a file claims to have, by whoever reads them.
template <class File>
Verdict check_columns(const Original& original, const File& file, int ours) {
  HostSpinor column(lattice());
  for (int n = 0; n < static_cast<int>(original.columns.size()); ++n) {
    if (n == ours || !file.has(n / 3, n % 3)) continue;
    if (!original.columns[n]) return {Kind::silent, fmt::format("column {} was never solved", n)};
    if (!same_report(file.report(n / 3, n % 3), original.reports[n]))
      return {Kind::silent, fmt::format("the report of column {} is another", n)};
    if (file.read(n / 3, n % 3, column) && !same_column(column, *original.columns[n], original.header.form))
      return {Kind::silent, fmt::format("column {} is another", n)};
  }
  return {Kind::unchanged, ""};
}

/// As a rerun does: what is sound is taken, the rest solved again.
Verdict check_continued(const Original& original, const std::filesystem::path& path) {
  const std::filesystem::path whole = path.parent_path() / path.stem();
  constexpr int ours = 7;
  const HostSpinor solved = random_column(99);
  {
    PropagatorFile file(whole, lattice(), original.header, false);
    if (Verdict v = check_columns(original, file, ours); v.kind != Kind::unchanged) return v;
    ColumnReport report;
    report.midpoint.assign(lattice().extent(3), 1);
    file.write(ours / 3, ours % 3, solved, report);
    file.finish();
  }
  const PropagatorReader file(whole);
  HostSpinor column(lattice());
  if (!file.has(ours / 3, ours % 3) || !file.read(ours / 3, ours % 3, column) ||
      !same_column(column, solved, original.header.form))
    return {Kind::report, "a column written into it is not read back"};
  return check_columns(original, file, ours);
}

Verdict check_propagator(const Original& original, const std::filesystem::path& path) {
  if (original.part) return check_continued(original, path);
  const PropagatorReader file(path);
  if (file.extent() != lattice().extent() || !(file.form() == original.header.form))
    return {Kind::silent, "form or extents are others"};
  for (const Provenance* all : {&original.header.provenance, &original.header.remarks})
    for (const auto& [key, value] : *all)
      if (const auto found = file.provenance().find(key); original.name.find("without-seal") == std::string::npos &&
                                                          (found == file.provenance().end() || found->second != value))
        return {Kind::silent, fmt::format("attribute {} is another", key)};
  return check_columns(original, file, -1);
}

/// What was read is written again: the same records give the same bytes.
Verdict check_records(const Original& original, const std::filesystem::path& path) {
  const Records found = read_records(path);
  RecordFile again(found.attributes);
  for (const Record& record : found.records) again.add(record);
  if (std::move(again).bytes() != original.bytes) return {Kind::silent, "other measurements"};
  return {Kind::unchanged, ""};
}

}  // namespace

Verdict check(const Original& original, const std::string& bytes, const std::filesystem::path& folder, Dice& dice) {
  const std::filesystem::path path = folder / (original.gauge  ? "file.dat"
                                               : original.part ? "file.h5.part"
                                                               : "file.h5");
  std::filesystem::remove(folder / "file.h5");
  put(path, bytes);
  try {
    if (original.records) return check_records(original, path);
    return original.gauge ? check_links(original, path, dice) : check_propagator(original, path);
  } catch (const Error& error) {
    return judge_error(error.what(), original.part ? folder / "file.h5" : path);
  } catch (const std::bad_alloc&) {
    return {Kind::report, "asks for too much memory"};
  } catch (const std::exception& error) {
    return {Kind::report, fmt::format("another exception: {}", error.what())};
  }
}

}  // namespace quarksmith::fuzz
