#include "tests/fuzz/corpus.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>

#include "runtime/fields/gauge.hpp"
#include "runtime/fields/host_averages.hpp"
#include "runtime/io/lime.hpp"
#include "runtime/io/record.hpp"

namespace quarksmith::fuzz {
namespace {

namespace fs = std::filesystem;

const HostGauge& links() {
  static const HostGauge gauge = hot_gauge(lattice(), 3);
  return gauge;
}

Original of_links(const fs::path& folder, std::string name, std::string bytes, Protection protection) {
  put(folder / "start", bytes);
  Original o;
  o.name = std::move(name);
  o.bytes = std::move(bytes);
  o.protection = protection;
  o.links = read_gauge(folder / "start", lattice());
  return o;
}

std::string written(const fs::path& folder, const std::string& format, int bits) {
  write_gauge(folder / "start", links(), format, bits, {{note_record, note_text}});
  return content(folder / "start");
}

/// An ILDG file with the records of SciDAC programs instead.
std::string as_scidac(const std::string& ildg, const fs::path& folder) {
  put(folder / "start", ildg);
  const InputFile file(folder / "start");
  const std::vector<LimeRecord> records = lime_records(file);
  const Coordinates n = lattice().extent();
  const std::string data = read_record(file, *find_record(records, "ildg-binary-data"));
  const std::string sums = read_record(file, *find_record(records, "scidac-checksum"));
  return record_of("scidac-private-file-xml",
                   fmt::format("<scidacFile><version>1.1</version><spacetime>4</spacetime><dims>{} {} {} {} </dims>"
                               "<volfmt>0</volfmt></scidacFile>",
                               n[0], n[1], n[2], n[3]),
                   true, false) +
         record_of("scidac-private-record-xml",
                   "<scidacRecord><version>1.1</version><recordtype>0</recordtype><precision>D</precision>"
                   "<colors>3</colors><typesize>144</typesize><datacount>4</datacount></scidacRecord>",
                   false, false) +
         record_of("scidac-binary-data", data, false, false) + record_of("scidac-checksum", sums, false, true);
}

/// The other byte order.
std::string swapped_milc(std::string bytes) {
  swap_bytes(bytes.data(), 20, 4);
  swap_bytes(bytes.data() + 84, bytes.size() - 84, 4);
  return bytes;
}

/// Calls visit(link) in the order of sites that text and DDalphaAMG share.
template <class Visit>
void for_each_link(const std::array<int, 4>& order, const Visit& visit) {
  for (const auto& site : links().site)
    for (const int mu : order) visit(site[mu]);
}

std::string as_ddalphaamg() {
  const Coordinates n = lattice().extent();
  const std::int32_t extent[] = {n[3], n[2], n[1], n[0]};
  const double plaquette = 3 * host_averages(links(), *Communicator::self()).plaquette;
  std::string bytes(reinterpret_cast<const char*>(extent), sizeof extent);
  bytes.append(reinterpret_cast<const char*>(&plaquette), sizeof plaquette);
  for_each_link({3, 2, 1, 0}, [&](const Matrix3& u) { bytes.append(reinterpret_cast<const char*>(&u), sizeof u); });
  return bytes;
}

std::string as_text() {
  std::string text;
  for_each_link({0, 1, 2, 3}, [&](const Matrix3& u) {
    for (const Complex64& z : u) text += fmt::format("{:.17g} {:.17g}\n", z.real(), z.imag());
  });
  return text;
}

Provenance provenance() {
  return {{"action", std::string("wilson")},
          {"mass", 0.1},
          {"boundary", std::vector<Complex64>{1, 1, 1, -1}},
          {"ls", 8LL},
          {"shifts", std::vector<double>{0.1, 0.2}},
          {"gauge_digest", std::string("0123abcd 4567ef01")}};
}

/// A file in which the first `done` columns are solved.
Original of_columns(const fs::path& folder, std::string name, const PropagatorForm& form, int done) {
  Original o;
  o.name = std::move(name);
  o.gauge = false;
  o.header = {provenance(), {{"gauge", std::string("run_00300.ildg")}, {"plaquette", 0.59}}, form};
  const fs::path path = folder / "start.h5";
  const int all = form.columns();
  o.columns.resize(all);
  o.reports.resize(all);
  {
    PropagatorFile file(path, lattice(), o.header, true);
    // All that the calculation gives are known: a file may be completed by pieces of another of the same calculation.
    for (int n = 0; n < all; ++n) {
      HostSpinor column = random_column(n + 1);
      if (form.staggered)
        for (HostSite& site : column.site) std::fill(site.begin() + 3, site.end(), 0.0);
      o.reports[n] = {10.0 + n, 1e-11, 0.5, 3, "cg", "double-half", "symmetric", "r12", {}};
      if (form.midpoint) o.reports[n].midpoint.assign(lattice().extent(3), 0.25 * n);
      if (n < done) file.write(n / 3, n % 3, column, o.reports[n]);
      o.columns[n] = std::move(column);
    }
    if (done == all) file.finish();
  }
  o.part = done != all;
  const fs::path made = o.part ? fs::path(path.string() + ".part") : path;
  o.bytes = content(made);
  fs::remove(made);
  return o;
}

/// Measurements of two configurations.
Original of_records() {
  RecordFile file({{"format", "quarksmith measurements 1"}, {"run", R"({"lattice": "4,2,6,2"})"}});
  for (const int number : {100, 120}) {
    const HostSpinor column = random_column(static_cast<std::uint64_t>(number));
    Record record{fmt::format("{:06}", number), {{"number", static_cast<long long>(number)}, {"plaquette", 0.59}}, {}};
    record.arrays.push_back({"flow", {2, 3}, std::vector<double>{0, 1, 2, 0.5, 1.5, 2.5}, {{"t0", 1.25}}});
    const auto& numbers = column.site[0];
    record.arrays.push_back({"pion",
                             {1, 1, 6, 2},
                             std::vector<Complex64>(numbers.begin(), numbers.end()),
                             {{"structures", "1 gx gy gz gt g5"}, {"momenta", std::vector<long long>{0, 0, 1}}}});
    file.add(record);
  }
  Original o;
  o.name = "measurements";
  o.gauge = false;
  o.records = true;
  o.bytes = std::move(file).bytes();
  return o;
}

/// As another program leaves it: the seal is gone.
Original without_seal(Original o) {
  std::uint64_t length = 0;
  constexpr std::size_t mark = 18;
  std::memcpy(&length, o.bytes.data() + o.bytes.size() - mark - sizeof length, sizeof length);
  o.bytes.resize(o.bytes.size() - mark - sizeof length - length);
  o.name += "-without-seal";
  return o;
}

}  // namespace

Lattice lattice() { return Lattice({4, 2, 6, 2}); }

HostSpinor random_column(std::uint64_t seed) {
  HostSpinor column(lattice());
  std::mt19937_64 random(seed);
  const auto number = [&] { return static_cast<double>(random() >> 11) * 0x1p-52 - 1; };
  for (HostSite& site : column.site)
    for (Complex64& z : site) {
      const double re = number();
      z = {re, number()};
    }
  return column;
}

std::vector<Original> corpus(const fs::path& folder) {
  std::vector<Original> all;
  const auto add = [&](const char* name, std::string bytes, Protection protection = Protection::checksum) {
    all.push_back(of_links(folder, name, std::move(bytes), protection));
  };
  const std::string ildg = written(folder, "ildg", 64), nersc = written(folder, "nersc", 32);
  add("ildg64", ildg);
  add("ildg32", written(folder, "ildg", 32));
  add("scidac", as_scidac(ildg, folder), Protection::numbers);
  add("nersc64", written(folder, "nersc", 64));
  add("nersc32", nersc);
  add("nersc-gzipped", gzipped(nersc));
  add("nersc-packed", nersc);
  all.back().packed = true;
  const std::string milc = written(folder, "milc", 32);
  add("milc", milc);
  add("milc-swapped", swapped_milc(milc));
  add("openqcd", written(folder, "openqcd", 64), Protection::none);
  add("ddalphaamg", as_ddalphaamg(), Protection::none);
  add("text", as_text(), Protection::none);
  all.push_back(of_columns(folder, "dirac", {}, 12));
  all.push_back(of_columns(folder, "staggered", {true, 2, false}, 6));
  all.push_back(of_columns(folder, "domain-wall", {false, 4, true}, 12));
  all.push_back(of_columns(folder, "part", {}, 5));
  all.push_back(of_columns(folder, "domain-wall-part", {false, 4, true}, 5));
  all.push_back(without_seal(all[all.size() - 5]));
  all.push_back(without_seal(all[all.size() - 3]));
  all.push_back(of_records());
  return all;
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << bytes).flush()) throw std::runtime_error(path.string() + ": cannot be written");
}

std::string gzipped(const std::string& bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib");
  std::string packed(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (!done) throw std::runtime_error("zlib");
  return packed;
}

}  // namespace quarksmith::fuzz
