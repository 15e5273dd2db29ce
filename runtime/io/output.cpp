#include "runtime/io/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "runtime/communicator.hpp"
#include "runtime/error.hpp"

namespace quarksmith {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot(const fs::path& path, const std::string& doing, const std::string& why) {
  throw Error(fmt::format("{}: cannot {}: {}", path.string(), doing, why));
}

std::string owner_text() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return fmt::format("host {}, process {}\n", host.data(), getpid());
}

std::string lock_text(int descriptor) {
  std::array<char, 512> text{};
  const ssize_t got = pread(descriptor, text.data(), text.size() - 1, 0);
  return {text.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

/// Whether that is what owners write: anything else is a user's file that happens to have the name.
bool is_lock_text(const std::string& text) {
  const std::size_t process = text.find(", process ");
  return text.starts_with("host ") && process != std::string::npos && text.find('\n') + 1 == text.size() &&
         text.find_first_not_of("0123456789\n", process + 10) == std::string::npos;
}

/// What the owner of a lock has written there.
std::string owner_of(int descriptor) {
  std::string owner = lock_text(descriptor);
  while (!owner.empty() && owner.back() == '\n') owner.pop_back();
  return owner.empty() ? "which has not said who it is" : owner;
}

/// Whether an open file is a regular one without a second name.
bool is_plain(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink <= 1;
}

/// Whether an open file is still the one that has the name.
bool is_at(int descriptor, const fs::path& file) {
  struct stat open_file {
  }, named{};
  return fstat(descriptor, &open_file) == 0 && lstat(file.c_str(), &named) == 0 && open_file.st_ino == named.st_ino &&
         open_file.st_dev == named.st_dev;
}

/// Locks an open file. \return false if another process has it. Where the file system knows no locks, the file itself
/// is one: its owner removes it at the end.
bool lock(int descriptor, const fs::path& path, const fs::path& file) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  struct stat status {};
  if (fstat(descriptor, &status) == 0 && status.st_size > 0)
    throw Error(fmt::format("{}: in use by another run ({}), or left by one that was killed; if so, remove {}",
                            path.string(), owner_of(descriptor), file.string()));
  return true;
}

/// The folder that a file lies in.
fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

void sync_folder(const fs::path& path) {
  const int folder = open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  fsync(folder);  // the name is on the disk; file systems that cannot do this need it no more than others
  close(folder);
}

/// Renames without replacing a file. \return false if there is one.
bool rename_to_new(const fs::path& from, const fs::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  if (errno != EINVAL && errno != ENOSYS) cannot(to, "rename " + from.string(), std::strerror(errno));
  // Older file systems: a second name is refused where there is one already.
  if (link(from.c_str(), to.c_str()) == 0) return unlink(from.c_str()) == 0;
  if (errno == EEXIST) return false;
  if (fs::symlink_status(to).type() != fs::file_type::not_found) return false;
  if (std::rename(from.c_str(), to.c_str()) != 0) cannot(to, "rename " + from.string(), std::strerror(errno));
  return true;
}

constexpr int lock_access = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

/// Makes a lock that has its owner's text and is locked when it gets its name: a run that is killed meanwhile leaves no
/// empty file, which could be anybody's. Where the file system or /proc cannot do that, an empty one.
/// \return -1 with errno if there is a file of that name, or none can be made.
int make_lock(const fs::path& file) {
  const int made = open(folder_of(file).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (made >= 0) {
    const std::string owner = owner_text(), self = fmt::format("/proc/self/fd/{}", made);
    const auto size = static_cast<ssize_t>(owner.size());
    if (flock(made, LOCK_EX | LOCK_NB) == 0 && pwrite(made, owner.data(), owner.size(), 0) == size) {
      if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, file.c_str(), AT_SYMLINK_FOLLOW) == 0) return made;
    }
    close(made);
  }
  return open(file.c_str(), lock_access | O_CREAT | O_EXCL, 0666);
}

}  // namespace

PathLock::PathLock(const fs::path& path) : file_(path.string() + ".lock") {
  for (int patience = 50;;) {
    descriptor_ = make_lock(file_);
    const bool made = descriptor_ >= 0;
    if (!made && errno == EEXIST) {
      descriptor_ = open(file_.c_str(), lock_access);
      if (descriptor_ < 0 && errno == ENOENT) continue;  // removed just now
    }
    if (descriptor_ < 0) cannot(path, "create " + file_.string(), std::strerror(errno));
    bool ours = false;
    try {
      if (!is_plain(descriptor_)) cannot(path, "lock it", file_.string() + " is no regular file; choose another name");
      const std::string text = made ? "" : lock_text(descriptor_);
      ours = made || is_lock_text(text);
      if (!ours && (!text.empty() || --patience == 0))  // its owner may be about to write there
        cannot(path, "lock it",
               file_.string() + " is there and no lock of a run; choose another name, or move it away");
      if (ours && !lock(descriptor_, path, file_))
        throw Error(fmt::format("{}: in use by another run ({}); wait for its end or choose another name",
                                path.string(), owner_of(descriptor_)));
    } catch (...) {
      close(std::exchange(descriptor_, -1));
      throw;
    }
    if (ours && is_at(descriptor_, file_)) break;
    close(std::exchange(descriptor_, -1));  // its last owner has just removed it
    if (!ours) usleep(2000);
  }
  const std::string owner = owner_text();
  if (pwrite(descriptor_, owner.data(), owner.size(), 0) < 0 ||
      ftruncate(descriptor_, static_cast<off_t>(owner.size())) != 0) {
    const std::string why = std::strerror(errno);
    release();
    cannot(path, "lock it", why);
  }
}

PathLock::PathLock(PathLock&& other) noexcept
    : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

PathLock& PathLock::operator=(PathLock&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void PathLock::release() noexcept {
  if (descriptor_ < 0) return;
  if (is_at(descriptor_, file_)) unlink(file_.c_str());
  close(std::exchange(descriptor_, -1));
}

void clear_stale_lock(const fs::path& path) noexcept {
  try {
    if (!fs::exists(path.string() + ".lock")) return;
    const PathLock taken(path);  // which removes it when it goes
  } catch (const std::exception&) {
    return;  // it is another's, or the folder is
  }
}

Output::Output(const fs::path& path, Existing existing) : Output(path, existing, *Communicator::self()) {}

Output::Output(const fs::path& path, Existing existing, Communicator& communicator)
    : path_(path), temporary_(path.string() + ".part"), existing_(existing), communicator_(&communicator) {
  communicator.together([&] {
    if (communicator.rank() != 0) return;
    check();
    lock_ = PathLock(path_);
    check();  // what another run has made until the lock was free
  });
}

void Output::check() const {
  std::error_code ignored;
  if (!path_.has_filename()) throw UsageError(fmt::format("'{}' is no name of a file", path_.string()));
  for (const char* own : {".part", ".lock"})
    if (path_.extension() == own)
      throw UsageError(fmt::format("{}: names of unfinished files end in {}; choose another", path_.string(), own));
  const fs::path folder = folder_of(path_);
  if (!fs::is_directory(folder, ignored))
    cannot(path_, "create", fmt::format("there is no folder {}; make it first", folder.string()));
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    cannot(path_, "create", fmt::format("the folder {}: {}", folder.string(), std::strerror(errno)));
  switch (fs::symlink_status(path_, ignored).type()) {
    case fs::file_type::not_found:
      break;
    case fs::file_type::directory:
      throw UsageError(fmt::format("{}: is a folder, not a file", path_.string()));
    case fs::file_type::regular:
    case fs::file_type::symlink:
      if (existing_ == Existing::replace || existing_ == Existing::same) break;
      throw UsageError(fmt::format("{}: exists; choose another name or replace it with --overwrite", path_.string()));
    default:
      throw UsageError(fmt::format("{}: is a device, pipe or socket, not a file", path_.string()));
  }
  const fs::file_type partial = fs::symlink_status(temporary_, ignored).type();
  if (partial == fs::file_type::not_found) return;
  if (partial != fs::file_type::regular)
    throw UsageError(fmt::format("{}: is no regular file; remove it", temporary_.string()));
  if (existing_ == Existing::refuse) refuse_partial();
}

void Output::refuse_partial() const {
  throw UsageError(
      fmt::format("{}: left by a run that was killed; remove it, or replace it with --overwrite", temporary_.string()));
}

int Output::create(const char* suffix) const {
  const std::string name = temporary_.string() + suffix;
  if (unlink(name.c_str()) != 0 && errno != ENOENT) cannot(path_, "create", std::strerror(errno));
  const int file = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0)
    cannot(path_, "create", fmt::format("{}; an earlier file of that name is unchanged", std::strerror(errno)));
  return file;
}

void Output::discard() const noexcept {
  if (communicator_->rank() == 0) unlink(temporary_.c_str());
}

void Output::publish() {
  communicator_->together([&] {
    if (communicator_->rank() != 0) return;
    if (existing_ == Existing::replace) {
      if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
        cannot(path_, "rename " + temporary_.string(), std::strerror(errno));
    } else if (!rename_to_new(temporary_, path_)) {
      throw Error(fmt::format("{}: appeared while this run worked; its own result is complete in {}", path_.string(),
                              temporary_.string()));
    }
    sync_folder(path_);
  });
  existing_ = Existing::replace;  // what stands there now is its own
}

namespace {

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Whether the file is there with that text already. \throws UsageError it is there with another, or a partial one is
/// whose text does not begin like this: that is no earlier run's of the same.
bool is_there(const Output& output, const std::string& text) {
  std::error_code ignored;
  if (output.existing() != Existing::same) return false;
  if (fs::exists(output.temporary(), ignored) && !text.starts_with(text_of(output.temporary())))
    output.refuse_partial();
  if (!fs::exists(output.path(), ignored)) return false;
  if (text_of(output.path()) != text)
    throw UsageError(
        fmt::format("{}: exists and holds something else; choose another name or replace it with --overwrite",
                    output.path().string()));
  return true;
}

}  // namespace

void write_text(Output& output, const std::string& text) {
  bool there = false;
  output.communicator().together([&] { there = output.communicator().rank() == 0 && is_there(output, text); });
  if (output.communicator().largest(there) != 0) return output.discard();
  output.communicator().together([&] {
    if (output.communicator().rank() != 0) return;
    const int file = output.create();
    bool fine = true;
    for (std::size_t done = 0; fine && done < text.size();) {
      const ssize_t written = write(file, text.data() + done, text.size() - done);
      fine = written >= 0;
      if (fine) done += static_cast<std::size_t>(written);
    }
    fine = fine && (fsync(file) == 0 || errno == EINVAL);
    const std::string why = std::strerror(errno);
    if (close(file) == 0 && fine) return;
    output.discard();
    cannot(output.path(), "write", fmt::format("{}; an earlier file of that name is unchanged", why));
  });
  output.publish();
}

void write_text(const fs::path& path, const std::string& text) {
  Output output(path);
  write_text(output, text);
}

}  // namespace quarksmith
