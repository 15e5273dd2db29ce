#include "runtime/io/propagator.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <future>
#include <utility>

#include "runtime/error.hpp"
#include "runtime/io/parallel.hpp"
#include "runtime/io/propagator_seal.hpp"
#include "runtime/lattice/partition.hpp"

namespace quarksmith {
namespace {

using hdf5::Handle;
namespace format = propagator_format;

}  // namespace

/// libhdf5 lays the file out, on rank 0 alone, and does not see it again: numbers go to where they stand, as those of
/// any other file.
struct PropagatorFile::Parts {
  /// What a file holds of a column, and its record.
  struct Contents {
    int n;
    std::vector<Complex64> packed;  ///< if the field on the host has other components
    const Complex64* numbers;
    ScidacChecksum sum;
    ColumnReport report;
  };

  Communicator& communicator;
  Lattice lattice;
  std::filesystem::path path, temporary;
  Output output;
  std::unique_ptr<SharedFile> numbers;
  PropagatorStructure known;    // all ranks have form, extent, places and reports
  std::vector<Contents> begun;  // columns that are to be marked; the numbers of the last may be under way:
  std::future<void> writing;

  Parts(Communicator& c, const Lattice& l, const std::filesystem::path& p, const PropagatorForm& form, bool overwrite)
      : communicator(c),
        lattice(l),
        path(p),
        temporary(p.string() + ".part"),
        output(p, overwrite ? Existing::replace : Existing::resume, c) {
    known.form = form;
    known.extent = l.global_extent();
    known.resize();
  }

  std::string what(const char* doing) const { return fmt::format("{}: cannot {}", temporary.string(), doing); }
  FileBox box(int n) const {
    return box_in_file(lattice, known.places[n], known.form.components() * sizeof(Complex64));
  }

  void create(const PropagatorHeader& header) {
    // Structures of this version carry checksums of their own: the library refuses damaged ones, where it crashes on
    // some of the version before.
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, what("create"));
    hdf5::check(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST), what("create"));
    // Under another name until it is laid out: a run that is killed here leaves no file that cannot be continued.
    const std::filesystem::path fresh = temporary.string() + ".new";
    close(output.create(".new"));
    errno = 0;
    try {
      Handle made(H5Fcreate(fresh.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, what("create"));
      format::create(made, header, known.extent);
      const PropagatorStructure laid_out = format::read(made, fresh.string());
      made.close(what("write"));
      format::seal(fresh, laid_out);
      known.places = laid_out.places;
      reserve_file(fresh, std::filesystem::file_size(fresh), {temporary.string(), ""});
      std::filesystem::rename(fresh, temporary);
    } catch (...) {
      unlink(fresh.c_str());
      throw;
    }
  }

  void resume(const PropagatorHeader& header) {
    PropagatorStructure found;
    try {
      const InputFile file(temporary);
      found = format::load(file);
      format::require_apart(found, file.size(), file.name());
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      throw Error(fmt::format("{}; --overwrite discards it", error.what()));
    }
    if (const std::string other = format::difference(found, header, known.extent); !other.empty())
      throw UsageError(
          fmt::format("{}: an unfinished file of another calculation ({}); finish that one, choose another --out, or "
                      "discard it with --overwrite",
                      temporary.string(), other));
    known.records = std::move(found.records);
    known.midpoint = std::move(found.midpoint);
    known.places = std::move(found.places);
  }

  /// Goes on with the partial file. \return false: it is another's or damaged, and may be discarded.
  bool resumes(const PropagatorHeader& header, bool discards) {
    try {
      resume(header);
      return true;
    } catch (const Error&) {
      if (!discards) throw;
      return false;
    }
  }

  void open(const PropagatorHeader& header, bool overwrite) {
    if (!std::filesystem::exists(temporary) || !resumes(header, overwrite)) create(header);
  }

  Contents contents_of(int n, const HostSpinor& column, const ColumnReport& report) const {
    Contents c{n, {}, nullptr, {}, report};
    const bool whole = column.site.each() == std::size_t(known.form.components());
    if (!whole) c.packed = format::pack(column, known.form);
    c.numbers = whole ? column.site.at(0) : c.packed.data();
    c.sum = format::checksum_of(c.numbers, lattice, known.form, communicator);
    return c;
  }

  void write_numbers(const Contents& c) {
    const FileBox place = box(c.n);
    const std::size_t slice = std::size_t(lattice.space_sites()) * known.form.components();
    for (int t = 0; t < place.extent[0]; ++t) numbers->write(place.slice(t), &c.numbers[t * slice]);
  }

  /// \throws Error the numbers that were under way could not be written.
  void join() {
    if (!writing.valid()) return;
    try {
      writing.get();
    } catch (...) {
      begun.pop_back();
      throw;
    }
  }

  /// Marks columns as done, once their numbers are on the disk: a run that is killed in between solves them again.
  void mark(const std::vector<Contents>& columns) {
    numbers->sync();
    for (const Contents& c : columns) {
      known.set(c.n, c.report, c.sum);
      if (known.form.midpoint) {
        const std::size_t bytes = known.extent[3] * sizeof(double);
        numbers->put(known.midpoint_place() + c.n * bytes, known.midpoint_of(c.n), bytes);
      }
      numbers->put(known.report_place() + c.n * sizeof(ColumnRecord), &known.records[c.n], sizeof(ColumnRecord));
    }
    numbers->sync();
  }

  void share() {
    communicator.broadcast(known.places.data(), known.places.size() * sizeof known.places[0], 0);
    communicator.broadcast(known.records.data(), known.records.size() * sizeof(ColumnRecord), 0);
    if (known.form.midpoint) communicator.broadcast(known.midpoint.data(), known.midpoint.size() * sizeof(double), 0);
  }
};

PropagatorFile::PropagatorFile(const std::filesystem::path& path, const Lattice& lattice,
                               const PropagatorHeader& header, bool overwrite, Communicator& communicator)
    : parts_((hdf5::quiet(), std::make_unique<Parts>(communicator, lattice, path, header.form, overwrite))) {
  require_spread(lattice, communicator);
  communicator.together([&] {
    if (communicator.rank() == 0) parts_->open(header, overwrite);
  });
  parts_->share();
  parts_->numbers = SharedFile::update(parts_->temporary, {parts_->temporary.string(), ""}, communicator);
}

PropagatorFile::~PropagatorFile() {
  try {
    wait();
  } catch (const std::exception&) {  // these columns are solved again
  }
}

void PropagatorFile::wait() const {
  parts_->join();
  if (!parts_->begun.empty()) parts_->mark(std::exchange(parts_->begun, {}));
}

bool PropagatorFile::has(int first, int colour) const {
  wait();
  return parts_->known.has(parts_->known.form.column(first, colour));
}
bool PropagatorFile::touched(int first, int colour) const {
  wait();
  return parts_->known.touched(parts_->known.form.column(first, colour));
}
ColumnReport PropagatorFile::report(int first, int colour) const {
  wait();
  return parts_->known.report(parts_->known.form.column(first, colour));
}

bool PropagatorFile::read(int first, int colour, HostSpinor& column) const {
  wait();
  const int n = parts_->known.form.column(first, colour);
  const FileBox box = parts_->box(n);
  const PropagatorForm& form = parts_->known.form;
  const std::size_t slice = std::size_t(parts_->lattice.space_sites()) * form.components();
  std::vector<Complex64> numbers(slice * box.extent[0]);
  for (int t = 0; t < box.extent[0]; ++t) parts_->numbers->read(box.slice(t), &numbers[t * slice]);
  const ScidacChecksum sum = format::checksum_of(numbers.data(), parts_->lattice, form, parts_->communicator);
  format::unpack(numbers, form, column);
  return sum.a == parts_->known.records[n].a && sum.b == parts_->known.records[n].b;
}

void PropagatorFile::write(int first, int colour, const HostSpinor& column, const ColumnReport& report) {
  wait();
  const Parts::Contents contents = parts_->contents_of(parts_->known.form.column(first, colour), column, report);
  parts_->write_numbers(contents);
  parts_->mark({contents});
}

void PropagatorFile::begin_write(int first, int colour, std::shared_ptr<const HostSpinor> column,
                                 const ColumnReport& report) {
  if (parts_->communicator.size() > 1) return write(first, colour, *column, report);
  // The checksum not beside the caller: threads of both sides would wait for each other.
  Parts::Contents contents = parts_->contents_of(parts_->known.form.column(first, colour), *column, report);
  parts_->join();
  if (!parts_->begun.empty()) parts_->begun.back().packed = {};
  Parts::Contents& begun = parts_->begun.emplace_back(std::move(contents));
  parts_->writing = std::async(std::launch::async, [parts = parts_.get(), &begun, column = std::move(column)] {
    parts->write_numbers(begun);
    parts->numbers->start();
  });
}

void PropagatorFile::finish() {
  wait();
  parts_->numbers.reset();
  parts_->output.publish();
}

}  // namespace quarksmith
