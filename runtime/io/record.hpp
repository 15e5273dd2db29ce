/// \file
/// Results of measurements in HDF5: one group for each configuration, followed by a seal, so that damage is detected
/// without libhdf5. The same results give the same bytes.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runtime/io/output.hpp"
#include "runtime/io/propagator.hpp"

namespace quarksmith {

/// Numbers with extents, the last of which runs fastest.
struct RecordArray {
  std::string name;
  std::vector<std::uint64_t> extent;
  std::variant<std::vector<double>, std::vector<Complex64>> numbers;
  Provenance attributes;
};
/// The results of one configuration.
struct Record {
  std::string name;
  Provenance attributes;
  std::vector<RecordArray> arrays;
};

/// Builds a file in memory.
class RecordFile {
 public:
  /// \param attributes of the whole file.
  explicit RecordFile(const Provenance& attributes);
  ~RecordFile();
  RecordFile(RecordFile&&) noexcept;
  void add(const Record& record);
  /// The bytes of the file with its seal; nothing can be added any more.
  std::string bytes() &&;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// A file of records: checked as a whole, then read record by record.
class RecordReader {
 public:
  /// \throws Error it cannot be read, or does not match its seal: it is damaged.
  explicit RecordReader(const std::filesystem::path& path);
  ~RecordReader();
  RecordReader(RecordReader&&) noexcept;

  const Provenance& attributes() const;
  /// Names of its records, in order.
  const std::vector<std::string>& names() const;
  Record read(const std::string& name) const;
  Provenance attributes(const std::string& name) const;

 private:
  friend void join_records(Output&, const Provenance&, const std::map<std::string, std::filesystem::path>&);
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// A file of records that was read.
struct Records {
  Provenance attributes;
  std::vector<Record> records;  ///< by name
};
/// \throws Error it cannot be read, or does not match its seal: it is damaged.
Records read_records(const std::filesystem::path& path);
/// Whether a file ends with the seal of a file of records.
bool is_record_file(const std::filesystem::path& path);

/// Joins records of several files into one and publishes it, one record in memory at a time. Rank 0 does the work;
/// collective. `where` has the file of each record, by name. \throws Error a file is damaged, the disk is full or
/// fails; an earlier file is unchanged.
void join_records(Output& output, const Provenance& attributes,
                  const std::map<std::string, std::filesystem::path>& where);

}  // namespace quarksmith
