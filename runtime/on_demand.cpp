#include "runtime/on_demand.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "runtime/action_info.hpp"
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

constexpr std::string_view begins = "compiling ",
                           finished = "done: ", advances = "progress: ", found = "use it with QUARKSMITH_KERNELS=";

/// Passes on what the child says of its progress, as soon as it does. \param reported bytes of the text so far.
void tell_progress(const std::string& text, std::size_t& reported) {
  for (std::size_t end; (end = text.find('\n', reported)) != std::string::npos; reported = end + 1) {
    const std::string_view line = std::string_view(text).substr(reported, end - reported);
    if (line.starts_with(begins))
      fmt::print(stderr, "quarksmith: this build lacks {}: compiling ...\n", line.substr(begins.size()));
    for (const std::string_view kind : {advances, finished})
      if (line.starts_with(kind)) fmt::print(stderr, "quarksmith: {}\n", line.substr(kind.size()));
  }
}

std::atomic<pid_t> compilation = 0;  ///< what signals are passed to; 0: none
static_assert(std::atomic<pid_t>::is_always_lock_free);

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
  if (failed == 0) compilation = child;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  Output output{failed == 0 ? 0 : -1, failed == 0 ? "" : fmt::format("{}: {}", words[0], std::strerror(failed))};
  std::array<char, 4096> part{};
  std::size_t reported = 0;
  for (ssize_t n = 0; failed == 0 && (n = read(ends[0], part.data(), part.size())) != 0;) {
    if (n > 0) output.text.append(part.data(), static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR) break;
    tell_progress(output.text, reported);
  }
  compilation = 0;
  close(ends[0]);
  while (failed == 0 && waitpid(child, &output.status, 0) < 0 && errno == EINTR) {
  }
  return output;
}

Compiler& own_compiler() {
  static Compiler own;
  return own;
}

/// Files of actions that were stated, by what was given, and their names.
std::map<std::string, std::string>& statements() {
  static std::map<std::string, std::string> all;
  return all;
}

/// Calls the generator of this build.
Output generator(std::vector<std::string> words) {
  std::error_code none;
  const std::filesystem::path own = sources / ".venv/bin/python";
  words.insert(words.begin(), {std::filesystem::exists(own, none) ? own.string() : "python3", "-m", "generator"});
  return run(std::move(words));
}

}  // namespace

std::string stated_action(const std::string& text) {
  const std::size_t end = text.find(".py");
  if (end == std::string::npos || (end + 3 != text.size() && text[end + 3] != ':')) return text;
  const std::string file = std::filesystem::absolute(text).string();
  if (const auto known = statements().find(file); known != statements().end()) return known->second;
  if (!wanted() || !possible())
    throw UsageError(fmt::format("action {}: what a file states is compiled, and nothing is compiled here; {}", text,
                                 wanted() ? "keep the build and its sources" : "unset QUARKSMITH_ON_DEMAND"));
  const Output output = generator({"action", file, "--build", build.string()});
  constexpr std::string_view made = "action ", failed = "generator: error: ";
  const std::size_t last = output.text.find_last_not_of('\n'), at = output.text.rfind(made);
  if (output.status != 0 || at == std::string::npos) {
    const std::size_t why = output.text.find(failed);
    throw UsageError(fmt::format("action {}: {}", text,
                                 output.text.substr(why == std::string::npos ? 0 : why + failed.size(), last + 1)));
  }
  const std::string found = output.text.substr(at + made.size(), last + 1 - at - made.size());
  add_actions(found.substr(found.find(' ') + 1));
  return statements()[file] = found.substr(0, found.find(' '));
}

bool pass_to_compilation(int signal) noexcept {
  const pid_t child = compilation;
  return child != 0 && kill(child, signal) == 0;
}

void compile_with(Compiler compiler) { own_compiler() = std::move(compiler); }

OnDemand compile_on_demand(std::vector<std::string> rows, std::string_view instruction_set) {
  if (!wanted()) return {};
  std::string files;
  for (const auto& [file, name] : statements()) files += fmt::format("'{}', ", file);
  for (std::string& row : rows) row = (files.empty() ? "" : fmt::format("actions = [{}]\n", files)) + row;
  if (const Compiler& own = own_compiler())
    if (const auto made = own(rows, instruction_set)) return *made;
  if (!possible()) return {};
  std::vector<std::string> words = {"kernel", "--build", build.string(), "--cpu", std::string(instruction_set)};
  for (const std::string& row : rows) words.insert(words.end(), {"--row", row});
  const Output output = generator(std::move(words));
  if (output.status != -1 && WIFSIGNALED(output.status))
    throw Error(
        fmt::format("compiling kernels on demand was interrupted (SIG{}): those that were ready are kept, the same "
                    "command compiles the others",
                    sigabbrev_np(WTERMSIG(output.status))));
  OnDemand made;
  for (std::size_t at = 0; output.status == 0 && (at = output.text.find(found, at)) != std::string::npos;) {
    at += found.size();
    made.modules.emplace_back(output.text.substr(at, output.text.find('\n', at) - at));
  }
  if (made.modules.size() != rows.size())
    return {{}, fmt::format("compiling on demand failed:\n{}", output.text.empty() ? "no output" : output.text)};
  return made;
}

}  // namespace quarksmith
