#include "runtime/io/lime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/error.hpp"
#include "runtime/text.hpp"

namespace quarksmith {
namespace {

constexpr std::uint32_t lime_magic = 0x456789ab;
constexpr std::size_t header_bytes = 144;

template <class T>
T big_endian(const unsigned char* p) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value = static_cast<T>(value << 8 | p[i]);
  return value;
}

template <class T>
void put_big_endian(unsigned char* p, T value) {
  for (std::size_t i = sizeof(T); i-- > 0; value = static_cast<T>(value >> 8)) p[i] = static_cast<unsigned char>(value);
}

/// What no tag can stand in, and where it ends.
constexpr std::pair<std::string_view, std::string_view> hidden[] = {
    {"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};

std::string without_hidden(const std::string& xml) {
  std::string kept;
  for (std::size_t at = 0; at < xml.size();) {
    const auto* found = std::find_if(std::begin(hidden), std::end(hidden), [&](const auto& kind) {
      return xml.compare(at, kind.first.size(), kind.first) == 0;
    });
    if (found == std::end(hidden)) {
      kept += xml[at++];
      continue;
    }
    const std::size_t end = xml.find(found->second, at + found->first.size());
    if (end == std::string::npos) break;
    at = end + found->second.size();
  }
  return kept;
}

}  // namespace

std::vector<LimeRecord> lime_records(const InputFile& file) {
  std::vector<LimeRecord> records;
  std::uint64_t offset = 0;
  while (offset < file.size()) {
    const Bytes header = file.read(offset, header_bytes, "a LIME record header");
    if (big_endian<std::uint32_t>(header.data()) != lime_magic)
      throw Error(
          fmt::format("{}: no LIME record at byte {}: the container is damaged; fetch it again", file.name(), offset));
    LimeRecord record;
    record.bytes = big_endian<std::uint64_t>(header.data() + 8);
    record.offset = offset + header_bytes;
    const char* type = reinterpret_cast<const char*>(header.data() + 16);
    record.type = printable({type, strnlen(type, 128)});
    if (record.bytes > file.size() - record.offset)
      throw Error(fmt::format("{}: truncated: record {} has {} bytes, {} are left; fetch it again", file.name(),
                              record.type, record.bytes, file.size() - record.offset));
    offset = record.offset + (record.bytes + 7) / 8 * 8;
    records.push_back(std::move(record));
  }
  return records;
}

const LimeRecord* find_record(const std::vector<LimeRecord>& records, const std::string& type) {
  for (const LimeRecord& r : records)
    if (r.type == type) return &r;
  return nullptr;
}

std::string read_record(const InputFile& file, const LimeRecord& record) {
  if (record.bytes > (1u << 24))
    throw Error(fmt::format("{}: record {} has {} bytes, too many for text", file.name(), record.type, record.bytes));
  const Bytes data = file.read(record.offset, record.bytes, record.type.c_str());
  return {data.begin(), data.end()};
}

std::vector<std::string> xml_values(const std::string& xml, const std::string& tag) {
  const std::string text = without_hidden(xml), open = "<" + tag, close = "</" + tag + ">";
  std::vector<std::string> values;
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at + 1)) {
    if (std::string_view("> \t\r\n").find(text[std::min(at + open.size(), text.size() - 1)]) == std::string::npos)
      continue;  // the start of a longer name
    const std::size_t begin = text.find('>', at), end = text.find(close, at);
    if (begin == std::string::npos || end == std::string::npos || end < begin) break;
    values.push_back(trimmed(std::string_view(text).substr(begin + 1, end - begin - 1)));
  }
  return values;
}

std::string record_head(const std::string& type, std::uint64_t bytes, bool first, bool last) {
  unsigned char header[header_bytes] = {};
  put_big_endian<std::uint32_t>(header, lime_magic);
  put_big_endian<std::uint16_t>(header + 4, 1);
  put_big_endian<std::uint16_t>(header + 6, static_cast<std::uint16_t>((first ? 0x8000 : 0) | (last ? 0x4000 : 0)));
  put_big_endian<std::uint64_t>(header + 8, bytes);
  std::memcpy(header + 16, type.data(), std::min<std::size_t>(type.size(), 127));
  return {reinterpret_cast<const char*>(header), sizeof header};
}

std::string record_padding(std::uint64_t bytes) { return std::string((8 - bytes % 8) % 8, '\0'); }

std::string record_of(const std::string& type, const std::string& text, bool first, bool last) {
  return record_head(type, text.size(), first, last) + text + record_padding(text.size());
}

}  // namespace quarksmith
