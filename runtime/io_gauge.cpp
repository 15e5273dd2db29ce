#include "runtime/io_gauge.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <cstring>

#include "runtime/error.hpp"
#include "runtime/gauge.hpp"

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

/// DDalphaAMG or openQCD, whichever has the plaquette that the file records.
GaugeFile read_plain_binary(const InputFile& file) {
  const auto fits = [](const GaugeFile& f) {
    const auto domain = std::make_shared<Domain>(f.gauge.lattice, Device::cpu());
    const double recorded = std::strtod(f.notes.at("PLAQUETTE").c_str(), nullptr);
    return std::abs(gauge_averages(f.gauge, domain).plaquette - recorded) < 1e-9;
  };
  GaugeFile ddalphaamg = read_ddalphaamg(file);
  if (fits(ddalphaamg)) return ddalphaamg;
  GaugeFile openqcd = read_openqcd(file);
  return fits(openqcd) ? std::move(openqcd) : std::move(ddalphaamg);
}

GaugeFile read_any(const InputFile& file, const std::optional<Lattice>& lattice) {
  const std::string head = file.head(64);
  if (head.empty()) throw Error(fmt::format("{}: is empty", file.name()));
  if (head.starts_with("\x45\x67\x89\xab")) return read_lime_gauge(file, lattice);
  if (head.starts_with("BEGIN_HEADER")) return read_nersc(file);
  if (is_milc(head)) return read_milc(file);
  if (looks_like_plain_binary(file)) return read_plain_binary(file);
  if (starts_like_a_number(head)) {
    if (!lattice)
      throw UsageError(
          fmt::format("{}: text does not record its extents; give them with --lattice X,Y,Z,T", file.name()));
    return read_text(file, *lattice);
  }
  throw Error(fmt::format("{}: unknown format; supported are {}", file.name(), gauge_formats()));
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

}  // namespace

std::string gauge_formats() {
  return "ILDG and SciDAC (LIME), NERSC, MILC v5, DDalphaAMG, openQCD, Bridge++ text (also gzipped)";
}

GaugeFile read_gauge(const std::filesystem::path& path, const std::optional<Lattice>& lattice, bool verify) {
  const InputFile file(path);
  GaugeFile result = read_any(file, lattice);
  if (lattice && !(result.gauge.lattice == *lattice))
    throw WrongLattice(fmt::format("{}: holds a {} lattice, but {} is asked for", file.name(),
                                   result.gauge.lattice.text(), lattice->text()));
  try {
    check_unitarity(result.gauge);
  } catch (const BadData& error) {
    throw BadData(fmt::format("{}: {}", file.name(), error.what()));
  }
  const GaugeAverages averages =
      gauge_averages(result.gauge, std::make_shared<Domain>(result.gauge.lattice, Device::cpu()));
  check_average(result, "PLAQUETTE", "plaquette", averages.plaquette);
  check_average(result, "LINK_TRACE", "link trace", averages.link_trace);
  if (verify)
    for (const RecordedCheck& c : result.checks)
      if (!c.agrees)
        throw Error(fmt::format("{}: {} recorded as {}, the links give {}: the file is damaged; fetch it again",
                                file.name(), c.what, c.recorded, c.computed));
  result.phases_folded = fold_boundary_phases(result.gauge);
  return result;
}

void write_gauge(const std::filesystem::path& path, const HostGauge& gauge, const std::string& format, int bits,
                 const std::vector<ExtraRecord>& extra) {
  if (bits != 32 && bits != 64) throw UsageError(fmt::format("{} bits; use 32 or 64", bits));
  if (format != "ildg" && format != "nersc" && format != "milc" && format != "openqcd")
    throw UnknownName(fmt::format("gauge format '{}' cannot be written; use ildg, nersc, milc or openqcd", format));
  if (format == "openqcd" && bits == 32)
    throw UsageError("the openQCD format is double precision; use 64 bits, or ildg");
  if (format == "milc" && bits == 64) throw UsageError("the MILC format is single precision; use 32 bits, or ildg");
  OutputFile file(path);
  if (format == "ildg")
    write_ildg(file, gauge, bits, extra);
  else if (format == "nersc")
    write_nersc(file, gauge, bits);
  else if (format == "openqcd")
    write_openqcd(file, gauge);
  else
    write_milc(file, gauge);
  file.commit();
}

}  // namespace quarksmith
