/// \file
/// Names of output files: checked and locked before the work of a run, and given to the finished files at the end.
#pragma once

#include <filesystem>
#include <string>

namespace quarksmith {

class Communicator;

/// An exclusive lock on a file name. `<path>.lock` names host and process of the owner and is removed with this object;
/// the stale lock of a process that was killed is ignored, and a file of that name that is not a lock is refused and
/// left as it is.
class PathLock {
 public:
  PathLock() = default;
  /// \throws Error another process has the name, or the folder cannot be written.
  explicit PathLock(const std::filesystem::path& path);
  ~PathLock() { release(); }
  PathLock(PathLock&& other) noexcept;
  PathLock& operator=(PathLock&& other) noexcept;

 private:
  void release() noexcept;
  std::filesystem::path file_;
  int descriptor_ = -1;
};

/// Removes the lock of a process that was killed; a lock that is held stays, and so does one that cannot be removed.
void clear_stale_lock(const std::filesystem::path& path) noexcept;

/// What happens to an existing file of the name.
enum class Existing {
  refuse,
  replace,
  resume,  ///< refuses a finished file, keeps a partial one to continue it
  same     ///< of a text: keeps a file that holds just what is to be written, and what a killed run has written of a
           ///< partial one; refuses another when it is to be written
};

/// The name of a file to write, locked as long as this exists. The file is written as `<path>.part` and renamed at the
/// end, so that an older file is unchanged until then. Symbolic links are not followed. Collective: rank 0 checks and
/// locks, and all throw if it does.
class Output {
 public:
  /// \throws UsageError the file exists and shall not be replaced, or is no regular file; Error its folder does not
  /// exist or cannot be written, or another run has the name.
  explicit Output(const std::filesystem::path& path, Existing existing = Existing::replace);
  Output(const std::filesystem::path& path, Existing existing, Communicator& communicator);

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& temporary() const { return temporary_; }
  Existing existing() const { return existing_; }
  Communicator& communicator() const { return *communicator_; }
  /// Creates the temporary file, or truncates it; for rank 0. \param suffix appended to the temporary name, for a file
  /// that is renamed to it when it is complete. \return its descriptor, which the caller closes. \throws Error it
  /// cannot be created.
  int create(const char* suffix = "") const;
  /// \throws UsageError the temporary file exists, and shall not be resumed.
  [[noreturn]] void refuse_partial() const;
  /// Removes the temporary file, on rank 0.
  void discard() const noexcept;
  /// Gives the temporary file its final name, on rank 0.
  /// \throws Error it cannot be renamed, or a file of that name has appeared that shall not be replaced: the temporary
  /// file stays.
  void publish();

 private:
  void check() const;
  std::filesystem::path path_, temporary_;
  Existing existing_;
  Communicator* communicator_;
  PathLock lock_;
};

/// Writes the text of rank 0 and publishes the file.
/// \throws UsageError with Existing::same, if the file has another text.
/// \throws Error the disk is full or fails; an earlier file is unchanged.
void write_text(Output& output, const std::string& text);
/// Writes a text to a file, replacing one of this name.
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace quarksmith
