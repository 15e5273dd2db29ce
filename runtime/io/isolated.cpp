#include "runtime/io/isolated.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "runtime/error.hpp"

namespace quarksmith {
namespace {

enum class Outcome : unsigned char { result = 1, error, usage };

/// Bytes of what an error says.
constexpr std::uint64_t longest_message = 1 << 16;
/// Generous for any sound file; a crafted one must not hang or fill the machine.
constexpr std::uint64_t seconds = 10, bytes_per_second = 16 << 20, spare_memory = std::uint64_t(2) << 30;

void limit(int resource, std::uint64_t value) {
  struct rlimit now {};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &now) != 0 || now.rlim_max < value) return;
  now.rlim_cur = now.rlim_max = value;
  setrlimit(static_cast<__rlimit_resource>(resource), &now);
}

/// Address space of this process: that of its devices counts too.
std::uint64_t address_space() {
  unsigned long long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%llu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Nobody else's handlers, traces or cores: that it dies is one of the expected ends.
void confine(std::uint64_t most) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGALRM, SIGPIPE, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
    std::signal(signal, SIG_DFL);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing >= 0) {
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
  }
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, seconds + most / bytes_per_second);
  if (const std::uint64_t now = address_space(); now != 0) limit(RLIMIT_AS, now + 2 * most + spare_memory);
}

bool send(int to, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(to, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

/// The whole life of the child.
[[noreturn]] void serve(const std::function<std::string()>& work, std::uint64_t most, int to) {
  confine(most);
  std::string reply(1, static_cast<char>(Outcome::result));
  try {
    reply += work();
  } catch (const UsageError& error) {
    reply = static_cast<char>(Outcome::usage) + std::string(error.what());
  } catch (const Error& error) {
    reply = static_cast<char>(Outcome::error) + std::string(error.what());
  } catch (const std::exception&) {
    _exit(EXIT_FAILURE);
  }
  // The end of the stream says that all is there, the status that it is right.
  _exit(send(to, reply.data(), reply.size()) ? EXIT_SUCCESS : EXIT_FAILURE);
}

/// All that comes, and one byte more than `most` at most.
std::string receive(int from, std::uint64_t most) {
  std::string reply;
  char chunk[1 << 16];
  for (;;) {
    const ssize_t got = read(from, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || reply.size() > most) return reply;
    reply.append(chunk, static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string isolated(const std::function<std::string()>& work, std::uint64_t most, const std::string& failure) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const pid_t child = fork();
  if (child < 0) {
    const std::string why = std::strerror(errno);
    close(ends[0]);
    close(ends[1]);
    throw Error(fmt::format("cannot start a process: {}", why));
  }
  if (child == 0) serve(work, most, ends[1]);
  close(ends[1]);
  const std::string reply = receive(ends[0], std::max(most, longest_message));
  close(ends[0]);
  int status = 0;
  pid_t ended = 0;
  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  // Where the caller's program ignores its children's ends, only the stream tells.
  if (ended == child && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) throw Error(failure);
  if (reply.empty()) throw Error(failure);
  const bool result = static_cast<Outcome>(reply[0]) == Outcome::result;
  if (reply.size() > (result ? most : std::max(most, longest_message)) + 1) throw Error(failure);
  const std::string text = reply.substr(1);
  switch (static_cast<Outcome>(reply[0])) {
    case Outcome::result:
      return text;
    case Outcome::usage:
      throw UsageError(text);
    default:
      throw Error(text);
  }
}

}  // namespace quarksmith
