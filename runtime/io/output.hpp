/// \file
/// Names of files that a run will write: checked and taken before its work, given the finished files at the end.
#pragma once

#include <filesystem>
#include <string>

namespace quarksmith {

class Communicator;

/// A name that one process at a time has to itself. `<path>.lock` names host and process of the owner and is removed
/// with it; a stale lock of a process that was killed is ignored, and a file of that name that is no lock is refused
/// and stays as it is.
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

/// Removes what a process that was killed has left of its lock; one that a process holds stays, and so does what cannot
/// be removed.
void clear_stale_lock(const std::filesystem::path& path) noexcept;

/// What becomes of a file that has the name already.
enum class Existing {
  refuse,
  replace,
  resume,  ///< refuses a finished file, keeps a partial one to go on with it
  same     ///< of a text: keeps a file that holds just what is to be written, and what a killed run has written of a
           ///< partial one; refuses another when it is to be written
};

/// The name of a file to write, locked as long as this lives. It is written as `<path>.part` and renamed at the end: an
/// older file is as it was until then. Neither name is followed where it is a link. Ranks have it together: rank 0
/// looks and locks, all throw if it does.
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
  /// Creates the temporary file, or truncates it; for rank 0. \param suffix of a name beside it, for a file that is to
  /// be renamed to it when it has its form. \return its descriptor, which the caller closes. \throws Error it cannot be
  /// created.
  int create(const char* suffix = "") const;
  /// \throws UsageError the temporary file is there and not to be gone on with.
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

/// Writes a whole text and publishes it; rank 0's.
/// \throws UsageError with Existing::same, another text is there.
/// \throws Error the disk is full or fails; an earlier file is as it was.
void write_text(Output& output, const std::string& text);
/// The same, replacing what has the name.
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace quarksmith
