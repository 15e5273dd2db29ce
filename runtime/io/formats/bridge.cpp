// Bridge++: links as text, one number after another.
#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "runtime/error.hpp"
#include "runtime/io/formats.hpp"

namespace quarksmith {
namespace {

/// The numbers of a text, one after another.
class Numbers {
 public:
  Numbers(const InputFile& file, const Coordinates& extent)
      : name_(file.name()),
        lattice_(extent_text(extent)),
        needed_(sites_of(extent) * directions * 18),
        content_(file.read(0, file.size(), "the numbers")),
        at_(reinterpret_cast<const char*>(content_.data())),
        end_(at_ + content_.size()) {}

  double next() {
    skip(" \t\r\n,");
    double value = 0;
    if (at_ != end_ && *at_ == '+') ++at_;
    const auto [rest, error] = std::from_chars(at_, end_, value);
    if (error != std::errc())
      throw Error(fmt::format("{}: a {} text field has {} numbers, this file {}{}", name_, lattice_, needed_, found_,
                              at_ == end_ ? "; it is truncated or --lattice is wrong"
                                          : " before something that is no number: it is damaged"));
    at_ = rest;
    ++found_;
    return value;
  }
  void require_end() {
    skip(" \t\r\n");
    if (at_ != end_)
      throw Error(fmt::format("{}: numbers follow the {} that a {} field has; give the right --lattice", name_, needed_,
                              lattice_));
  }

 private:
  void skip(const char* blanks) {
    while (at_ != end_ && std::strchr(blanks, *at_) != nullptr) ++at_;
  }
  std::string name_, lattice_;
  std::uint64_t needed_, found_ = 0;
  Bytes content_;
  const char *at_, *end_;
};

/// Where numbers stand depends on the length of all before: every rank reads the whole text and keeps its part.
void read_text_links(const InputFile& file, HostGauge& gauge) {
  const Coordinates& n = gauge.lattice.global_extent();
  Numbers numbers(file, n);
  std::array<Matrix3, directions> links;
  for (Coordinates x{}; x[3] < n[3]; ++x[3])
    for (x[2] = 0; x[2] < n[2]; ++x[2])
      for (x[1] = 0; x[1] < n[1]; ++x[1])
        for (x[0] = 0; x[0] < n[0]; ++x[0]) {
          for (Matrix3& u : links)
            for (Complex64& z : u) {
              const double re = numbers.next();
              z = {re, numbers.next()};
            }
          Coordinates here;
          if (gauge.lattice.find(x, here)) gauge.site[gauge.lattice.index(here)] = links;
        }
  numbers.require_end();
}

bool starts_like_a_number(const InputFile& file) {
  const std::string head = file.head(64);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string::npos && std::strchr("+-.0123456789", head[first]) != nullptr &&
         head.find_first_not_of(" \t\r\n+-.,0123456789eEdDnaifINAF") == std::string::npos;
}

std::vector<GaugeHead> text_heads(const InputFile& file, const std::optional<Coordinates>& expected) {
  if (!expected)
    throw UsageError(
        fmt::format("{}: text does not record its extents; give them with --lattice X,Y,Z,T", file.name()));
  const Coordinates& extent = *expected;
  const std::uint64_t numbers = sites_of(extent) * directions * 18;
  if (file.size() + 1 < 2 * numbers || file.size() > most_text_bytes(extent))  // before memory is taken for the links
    throw Error(
        fmt::format("{}: {} bytes cannot be the {} numbers of a {} text field: it is truncated or --lattice is wrong",
                    file.name(), file.size(), numbers, extent_text(extent)));
  GaugeHead head;
  head.format = "text";
  head.byte_order = "ascii";
  head.extent = extent;
  head.read_links = [](const InputFile& f, HostGauge& gauge, Communicator& communicator) {
    communicator.together([&] { read_text_links(f, gauge); });
  };
  return {std::move(head)};
}

}  // namespace

std::uint64_t most_text_bytes(const Coordinates& extent) { return 64 * sites_of(extent) * directions * 18 + 4096; }

namespace formats {
extern constinit const GaugeFormat bridge = {{.title = "Bridge++ text"}, starts_like_a_number, text_heads};
}

}  // namespace quarksmith
