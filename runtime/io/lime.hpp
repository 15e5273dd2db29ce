/// \file
/// LIME containers (C. McNeile and others, c-lime 1.3): big-endian records with a type.
#pragma once

#include "runtime/io/file.hpp"

namespace quarksmith {

/// The place of a record in a file.
struct LimeRecord {
  std::string type;
  std::uint64_t offset = 0;  ///< of its data
  std::uint64_t bytes = 0;
};

/// All records of a container.
/// \throws Error a record header is damaged or runs past the end of the file.
std::vector<LimeRecord> lime_records(const InputFile& file);
/// The first record of that type, null if there is none.
const LimeRecord* find_record(const std::vector<LimeRecord>& records, const std::string& type);
/// The data of a record as text.
std::string read_record(const InputFile& file, const LimeRecord& record);
/// The texts between each `<tag>` and the next `</tag>`, without surrounding blanks. Tags in comments, CDATA sections
/// and processing instructions are ignored.
std::vector<std::string> xml_values(const std::string& xml, const std::string& tag);

/// The head of a record with `bytes` bytes of data; data and record_padding have to follow.
std::string record_head(const std::string& type, std::uint64_t bytes, bool first, bool last);
/// The padding of a record to a multiple of eight bytes.
std::string record_padding(std::uint64_t bytes);
/// A whole record of text.
std::string record_of(const std::string& type, const std::string& text, bool first, bool last);

}  // namespace quarksmith
