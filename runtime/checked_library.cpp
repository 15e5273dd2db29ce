#include "runtime/checked_library.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/sha256.hpp"

namespace quarksmith {
namespace {

namespace fs = std::filesystem;

/// Why somebody else than the user and root could have written there; empty if nobody could.
std::string foreign(const fs::path& path, const struct stat& s, mode_t forbidden) {
  if (s.st_uid != geteuid() && s.st_uid != 0)
    return fmt::format("{} belongs to user {}, neither to you ({}) nor to root", path.string(), s.st_uid, geteuid());
  if ((s.st_mode & forbidden) != 0 && (!S_ISDIR(s.st_mode) || (s.st_mode & S_ISVTX) == 0))
    return fmt::format("{} can be written by others (chmod go-w)", path.string());
  return "";
}

/// The folder must be the user's or root's; in one above, anybody's, no others may rename what it holds.
std::string foreign_folder(const fs::path& folder) {
  for (fs::path at = folder;; at = at.parent_path()) {
    struct stat s {};
    if (stat(at.c_str(), &s) != 0) return fmt::format("{}: {}", at.string(), std::strerror(errno));
    const bool open_to_all = (s.st_mode & S_IWOTH) != 0;
    if (at == folder || open_to_all)
      if (std::string why = foreign(at, s, S_IWOTH); !why.empty()) return why;
    if (at == at.parent_path()) return "";
  }
}

std::string all_of(int descriptor) {
  std::string bytes;
  char part[1 << 16];
  for (ssize_t got; (got = pread(descriptor, part, sizeof part, static_cast<off_t>(bytes.size()))) > 0;)
    bytes.append(part, static_cast<std::size_t>(got));
  return bytes;
}

/// Why an open file is not to be loaded; empty if it is what was built.
std::string doubt(int descriptor, const std::string& file) {
  struct stat s {};
  if (fstat(descriptor, &s) != 0) return std::strerror(errno);
  if (!S_ISREG(s.st_mode)) return "it is no regular file";
  std::string why = foreign(file, s, S_IWGRP | S_IWOTH);
  std::error_code failed;
  if (why.empty()) why = foreign_folder(fs::canonical(file, failed).parent_path());
  if (!why.empty()) return why;
  const std::string record = file + ".sha256";
  std::ifstream in(record, std::ios::binary);
  const std::string recorded = std::string(std::istreambuf_iterator<char>(in), {}).substr(0, 64);
  if (recorded.empty()) return fmt::format("{}, the digest of what was built, is missing", record);
  if (sha256(all_of(descriptor)) != recorded)
    return fmt::format("it is not what was built: {} has another digest", record);
  return "";
}

}  // namespace

void* load_checked(const std::string& file, std::string& why) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) {
    why = std::strerror(errno);
    return nullptr;
  }
  why = doubt(descriptor, file);
  const std::string name = fmt::format("/proc/self/fd/{}", descriptor);
  void* const library = why.empty() ? dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  // Of a library that was loaded the descriptor stays open: the loader takes files of one name for the same.
  if (library != nullptr) return library;
  if (why.empty()) {
    why = dlerror();
    if (const auto at = why.find(name); at != std::string::npos) why.replace(at, name.size(), file);
  }
  close(descriptor);
  return nullptr;
}

}  // namespace quarksmith
