#include "runtime/on_demand.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "runtime/error.hpp"

extern char** environ;

namespace quarksmith {
namespace {

const std::filesystem::path sources = QUARKSMITH_SOURCE_FOLDER, build = QUARKSMITH_BUILD_FOLDER;

bool wanted() {
  const char* setting = std::getenv("QUARKSMITH_ON_DEMAND");
  const std::string_view value = setting == nullptr ? "on" : setting;
  if (value != "on" && value != "off")
    throw UsageError(fmt::format("QUARKSMITH_ON_DEMAND is '{}'; use on, or off to compile no kernels", value));
  return value == "on";
}

bool possible() {
  std::error_code none;
  return std::filesystem::exists(sources / "generator/__main__.py", none) &&
         std::filesystem::exists(build / "compile_commands.json", none);
}

/// The child is no rank of a job of ours, compiles nothing in its turn and needs no modules.
std::vector<char*> child_environment() {
  static char off[] = "QUARKSMITH_ON_DEMAND=off";
  std::vector<char*> kept = {off};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view e = *entry;
    bool drop = false;
    for (const std::string_view prefix : {"OMPI_", "PMIX_", "PMI_", "QUARKSMITH_ON_DEMAND=", "QUARKSMITH_KERNELS="})
      drop = drop || e.starts_with(prefix);
    if (!drop) kept.push_back(*entry);
  }
  kept.push_back(nullptr);
  return kept;
}

struct Output {
  int status = 0;  ///< of waitpid, or -1
  std::string text;
};

/// Runs a program in the folder of the sources; what it prints, with its errors.
Output run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {-1, std::strerror(errno)};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, sources.c_str());
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), child_environment().data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  Output output{failed == 0 ? 0 : -1, failed == 0 ? "" : fmt::format("{}: {}", words[0], std::strerror(failed))};
  std::array<char, 4096> part{};
  for (ssize_t n = 0; failed == 0 && (n = read(ends[0], part.data(), part.size())) != 0;) {
    if (n > 0) output.text.append(part.data(), static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR) break;
  }
  close(ends[0]);
  while (failed == 0 && waitpid(child, &output.status, 0) < 0 && errno == EINTR) {
  }
  return output;
}

/// The rest of the line that begins with some text.
std::string line_after(const std::string& text, std::string_view begin) {
  const auto at = text.find(begin);
  if (at == std::string::npos) return "";
  const auto from = at + begin.size();
  return text.substr(from, text.find('\n', from) - from);
}

}  // namespace

OnDemand compile_on_demand(const std::string& row, std::string_view instruction_set) {
  if (!wanted() || !possible()) return {};
  std::error_code none;
  const std::filesystem::path own = sources / ".venv/bin/python";
  const std::string python = std::filesystem::exists(own, none) ? own.string() : "python3";
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "quarksmith: this build lacks a kernel; compiling it ...\n");
  const Output output = run({python, "-m", "generator", "kernel", "--row", row, "--build", build.string(), "--cpu",
                             std::string(instruction_set)});
  const std::string module = line_after(output.text, "use it with QUARKSMITH_KERNELS=");
  if (output.status != 0 || module.empty())
    return {{}, fmt::format("compiling it on demand failed:\n{}", output.text.empty() ? "no output" : output.text)};
  if (const std::string how = line_after(output.text, "kernel "); how.find("found in the cache") == std::string::npos)
    fmt::print(stderr, "quarksmith: this build lacks kernel {}\n", how);
  return {module, ""};
}

}  // namespace quarksmith
