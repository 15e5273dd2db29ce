#include "runtime/io/propagator_seal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <type_traits>

#include "runtime/error.hpp"
#include "runtime/io/hdf5_part.hpp"
#include "runtime/io/isolated.hpp"
#include "runtime/sha256.hpp"
#include "runtime/text.hpp"

// A seal: structure, digest of structure and of all other bytes that are no numbers, its length (8 bytes), and `mark`,
// the last bytes of the file.
namespace quarksmith::propagator_format {
namespace {

constexpr std::string_view mark = "quarksmith seal 1\n";
constexpr std::size_t digest_characters = 64;
/// More than any structure of ours: of 2^12 masses.
constexpr std::uint64_t most_structure = 64 << 20;

[[noreturn]] void damaged(const std::string& path) {
  throw Error(fmt::format("{}: its structure does not match its seal: the file is damaged", path));
}

/// Values one after another, as they are in memory.
class Packer {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  void put_list(const T& list) {
    put(static_cast<std::uint64_t>(list.size()));
    text_.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(typename T::value_type));
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

/// Takes them apart again; nothing is taken for granted.
class Unpacker {
 public:
  Unpacker(std::string_view text, const std::string& path) : text_(text), path_(path) {}
  template <class T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  template <class T>
  T get_list() {
    using Value = typename T::value_type;
    const auto count = get<std::uint64_t>();
    if (count > text_.size() / sizeof(Value)) damaged(path_);
    T list(count, Value());
    const char* from = take(count * sizeof(Value));
    if (count > 0) std::memcpy(static_cast<void*>(list.data()), from, count * sizeof(Value));
    return list;
  }
  void require_end() const {
    if (!text_.empty()) damaged(path_);
  }

 private:
  const char* take(std::size_t bytes) {
    if (bytes > text_.size()) damaged(path_);
    const char* at = text_.data();
    text_.remove_prefix(bytes);
    return at;
  }
  std::string_view text_;
  const std::string& path_;
};

template <class T>
constexpr bool is_list = requires(const T& value) { value.size(); };

template <class T>
ProvenanceValue unpack_value(Unpacker& from) {
  if constexpr (is_list<T>)
    return from.get_list<T>();
  else
    return from.get<T>();
}

template <std::size_t... n>
ProvenanceValue unpack_value(Unpacker& from, std::size_t kind, const std::string& path, std::index_sequence<n...>) {
  std::optional<ProvenanceValue> value;
  ((kind == n ? (void)(value = unpack_value<std::variant_alternative_t<n, ProvenanceValue>>(from)) : void()), ...);
  if (!value) damaged(path);
  return *value;
}

/// All but the reports.
std::string pack_head(const PropagatorStructure& s) {
  Packer to;
  to.put(static_cast<std::uint8_t>(s.form.staggered + 2 * s.form.vectors));
  to.put(static_cast<std::uint8_t>(s.form.midpoint));
  to.put(static_cast<std::int32_t>(s.form.first));
  if (s.form.vectors) to.put(static_cast<std::int32_t>(s.form.each));
  to.put(s.extent);
  to.put_list(s.places);
  to.put(static_cast<std::uint64_t>(s.attributes.size()));
  for (const auto& [key, value] : s.attributes) {
    to.put_list(key);
    to.put(static_cast<std::uint8_t>(value.index()));
    std::visit(
        [&]<class T>(const T& x) {
          if constexpr (is_list<T>)
            to.put_list(x);
          else
            to.put(x);
        },
        value);
  }
  return std::move(to).text();
}

PropagatorStructure unpack_head(std::string_view text, const std::string& path) {
  Unpacker from(text, path);
  PropagatorStructure s;
  const auto kind = from.get<std::uint8_t>();
  s.form.staggered = kind % 2 != 0;
  s.form.vectors = kind / 2 != 0;
  s.form.midpoint = from.get<std::uint8_t>() != 0;
  s.form.first = from.get<std::int32_t>();
  if (s.form.vectors) s.form.each = from.get<std::int32_t>();
  s.extent = from.get<Coordinates>();
  check_form(s, path);
  s.places = from.get_list<std::vector<std::uint64_t>>();
  if (s.places.size() != std::size_t(s.form.columns()) + 2) damaged(path);
  for (auto left = from.get<std::uint64_t>(); left > 0; --left) {
    const std::string key = printable(from.get_list<std::string>());
    const std::size_t kind = from.get<std::uint8_t>();
    s.attributes.emplace(
        key, unpack_value(from, kind, path, std::make_index_sequence<std::variant_size_v<ProvenanceValue>>()));
  }
  from.require_end();
  return s;
}

/// Places and bytes of all numbers, in the order of the file.
std::vector<std::pair<std::uint64_t, std::uint64_t>> numbers_of(const PropagatorStructure& s) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> numbers;
  for (int n = 0; n < static_cast<int>(s.places.size()); ++n)
    if (s.bytes_at(n) > 0) numbers.emplace_back(s.places[n], s.bytes_at(n));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// What lies before `end` and is none of the numbers, which have checksums of their own.
std::string structure_bytes(const InputFile& file, std::uint64_t end, const PropagatorStructure& s) {
  auto numbers = numbers_of(s);
  numbers.emplace_back(end, 0);
  std::string bytes;
  std::uint64_t at = 0;
  for (const auto& [place, length] : numbers) {
    if (place < at || place > end || length > end - place || place - at > most_structure) damaged(file.name());
    const Bytes between = file.read(at, place - at, "the structure");
    bytes.append(between.begin(), between.end());
    at = place + length;
  }
  return bytes;
}

std::string digest(const std::string& head, const std::string& structure) { return sha256(head + structure); }

void read_reports(const InputFile& file, PropagatorStructure& s) {
  const std::vector<std::uint64_t> places = s.places;
  s.resize();
  s.places = places;
  file.read(s.report_place(), s.records.data(), s.records.size() * sizeof(ColumnRecord), "/report");
  if (s.form.midpoint)
    file.read(s.midpoint_place(), s.midpoint.data(), s.midpoint.size() * sizeof(double), "/midpoint");
}

/// Where HDF5 says that it ends, if its superblock is of the kind that we write; else the end of the file.
std::uint64_t end_of_hdf5(const InputFile& file) {
  constexpr std::size_t version_at = 8, end_at = 28, bytes = 48;
  if (file.size() < bytes) return file.size();
  const Bytes block = file.read(0, bytes, "the superblock");
  if (block[version_at] != 2 && block[version_at] != 3) return file.size();
  std::uint64_t end = 0;
  std::memcpy(&end, &block[end_at], sizeof end);
  return end;
}

/// The structure as the seal tells it. \return nothing if there is no seal. \throws Error it does not match.
std::optional<PropagatorStructure> unseal(const InputFile& file) {
  const std::size_t foot = sizeof(std::uint64_t) + mark.size();
  if (file.size() < foot) return std::nullopt;
  const Bytes last = file.read(file.size() - foot, foot, "the seal");
  if (!std::equal(mark.rbegin(), mark.rend(), last.rbegin(), [](unsigned char a, unsigned char b) { return a == b; })) {
    if (file.size() > end_of_hdf5(file)) damaged(file.name());  // cut within the seal
    return std::nullopt;
  }
  std::uint64_t length = 0;
  std::memcpy(&length, last.data(), sizeof length);
  if (length < digest_characters || length > most_structure || length > file.size() - foot) damaged(file.name());
  const std::uint64_t end = file.size() - foot - length;
  const Bytes body = file.read(end, length, "the seal");
  const std::string head(body.begin(), body.end() - digest_characters);
  const std::string recorded(body.end() - digest_characters, body.end());
  PropagatorStructure s = unpack_head(head, file.name());
  // Only when all numbers are known to lie within the file is memory taken for them.
  if (digest(head, structure_bytes(file, end, s)) != recorded) damaged(file.name());
  read_reports(file, s);
  return s;
}

/// The structure as libhdf5 sees it, which may crash.
PropagatorStructure ask_library(const InputFile& file) {
  const std::string& path = file.name();
  const std::string reply = isolated(
      [&path] {
        PropagatorStructure s = read(hdf5::open_for_reading(path), path);
        Packer to;
        to.put_list(pack_head(s));
        to.put_list(s.records);
        to.put_list(s.midpoint);
        return std::move(to).text();
      },
      most_structure, hdf5::unreadable(path));
  Unpacker from(reply, path);
  PropagatorStructure s = unpack_head(from.get_list<std::string>(), path);
  s.records = from.get_list<std::vector<ColumnRecord>>();
  s.midpoint = from.get_list<std::vector<double>>();
  from.require_end();
  // Compressed numbers may be fewer bytes, but not by orders of magnitude.
  if (s.column_bytes() / 64 > file.size())
    throw Error(fmt::format("{}: has {} bytes, too few for columns of a {} lattice: it is damaged", path, file.size(),
                            fmt::join(s.extent, "x")));
  for (int n = 0; n < s.form.columns(); ++n)
    if (s.places[n] > file.size() || (s.places[n] != 0 && s.column_bytes() > file.size() - s.places[n]))
      throw Error(
          fmt::format("{}: {} reaches beyond the end of the file: truncated or damaged", path, column_name(n, s.form)));
  return s;
}

}  // namespace

void seal(const std::filesystem::path& path, const PropagatorStructure& structure) {
  std::string text = pack_head(structure);
  std::uint64_t end = 0;
  {
    const InputFile file(path);
    end = file.size();
    text += digest(text, structure_bytes(file, end, structure));
  }
  const std::uint64_t length = text.size();
  text.append(reinterpret_cast<const char*>(&length), sizeof length);
  text += mark;
  const int file = ::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  const bool written =
      file >= 0 && pwrite(file, text.data(), text.size(), static_cast<off_t>(end)) == static_cast<ssize_t>(text.size());
  const std::string why = std::strerror(errno);
  if (file >= 0) close(file);
  if (!written) throw Error(fmt::format("{}: cannot write: {}", path.string(), why));
}

PropagatorStructure load(const InputFile& file) {
  if (!is_hdf5(file.name()))
    throw Error(fmt::format("{}: is no HDF5 file, or its first bytes are damaged", file.name()));
  std::optional<PropagatorStructure> sealed = unseal(file);
  PropagatorStructure s = sealed ? std::move(*sealed) : ask_library(file);
  for (auto& [key, value] : s.attributes)
    if (auto* text = std::get_if<std::string>(&value)) *text = printable(std::move(*text));
  return s;
}

std::vector<Complex64> load_column(const std::string& path, int n, const Lattice& local, const PropagatorForm& form) {
  const hdf5::Extent after = form.staggered ? hdf5::Extent{3} : hdf5::Extent{4, 3};
  return hdf5::load_local(path, {column_name(n, form), {}, after}, local);
}

void require_apart(const PropagatorStructure& s, std::uint64_t bytes, const std::string& path) {
  std::uint64_t at = 1;  // 0 is no place
  for (const auto& [place, length] : numbers_of(s)) {
    if (place < at || place > bytes || length > bytes - place)
      throw Error(
          fmt::format("{}: its columns do not lie one beside another, so that it cannot be continued: damaged, "
                      "or rewritten by another program",
                      path));
    at = place + length;
  }
}

}  // namespace quarksmith::propagator_format
