// Messages, contexts and queries of quarksmith.h.
#include "interface/handle.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include "runs/describe.hpp"

namespace quarksmith::interface {
namespace {

/// Long enough for a message with a profile row; longer ones are cut.
thread_local std::array<char, 4096> last_message{};

void keep(const char* function, const char* what, Handle* handle) noexcept {
  std::snprintf(last_message.data(), last_message.size(), "%s: %s", function, what);
  if (handle == nullptr) return;
  try {
    handle->message = last_message.data();
  } catch (...) {
    handle->message.clear();  // no memory for the text; the thread has it
  }
}

/// The status of the exception that is being handled, and its text.
std::pair<quarksmith_status, std::string> describe() {
  try {
    throw;
  } catch (const StatusError& e) {
    return {e.status, e.what()};
  } catch (const UnknownName& e) {
    return {QUARKSMITH_UNKNOWN_NAME, e.what()};
  } catch (const runs::Refusal& e) {  // of a file that options name, an unknown key is no name of theirs
    const bool unknown = e.kind == runs::Refusal::Kind::unknown && e.line == 0;
    return {unknown ? QUARKSMITH_UNKNOWN_NAME : QUARKSMITH_BAD_ARGUMENT, e.what()};
  } catch (const WrongLattice& e) {
    return {QUARKSMITH_WRONG_LATTICE, e.what()};
  } catch (const MissingKernel& e) {
    return {QUARKSMITH_MISSING_KERNEL, e.what()};
  } catch (const NotSU3& e) {
    return {QUARKSMITH_BAD_DATA, e.what()};
  } catch (const BadData& e) {
    return {QUARKSMITH_BAD_DATA, e.what()};
  } catch (const OutOfMemory& e) {
    return {QUARKSMITH_OUT_OF_MEMORY, e.what()};
  } catch (const UsageError& e) {
    return {QUARKSMITH_BAD_ARGUMENT, e.what()};
  } catch (const std::bad_alloc&) {
    return {QUARKSMITH_OUT_OF_MEMORY, "no memory on the host; use a smaller lattice or fewer right-hand sides"};
  } catch (const std::exception& e) {
    return {QUARKSMITH_FAILED, e.what()};
  } catch (...) {
    return {QUARKSMITH_FAILED, "an exception of unknown type"};
  }
}

}  // namespace

quarksmith_status fail(const char* function, Handle* handle) noexcept {
  try {
    const auto [status, text] = describe();
    keep(function, runs::in_words_of(runs::Door::c, text).c_str(), handle);
    return status;
  } catch (...) {
    keep(function, "no memory on the host", handle);
    return QUARKSMITH_OUT_OF_MEMORY;
  }
}

void Agreement::tell(quarksmith_status mine, const std::string& text) {
  reached_ = true;
  if (ranks_.size() == 1) return;
  struct Said {
    quarksmith_status status;
    std::size_t digest;
  };
  const Said said = {mine, mine == QUARKSMITH_OK ? std::hash<std::string>()(text) : 0};
  std::vector<Said> all(ranks_.size());
  ranks_.all_gather(&said, sizeof(said), all.data());
  for (int r = 0; r < ranks_.size(); ++r) {
    if (all[r].status == QUARKSMITH_OK) continue;
    const std::string why = ranks_.broadcast(text, r);
    if (mine == QUARKSMITH_OK) throw StatusError(all[r].status, fmt::format("rank {}: {}", r, why));
    return;
  }
  for (int r = 1; r < ranks_.size(); ++r) {
    if (all[r].digest == all[0].digest) continue;
    const std::string first = ranks_.broadcast(text, 0), other = ranks_.broadcast(text, r);
    interface::refuse(fmt::format("rank {} passes {}, rank 0 passes {}; pass the same on all", r, other, first));
  }
}

void Agreement::refuse() {
  if (reached_) return;
  const auto [status, text] = describe();
  tell(status, text);
}

double require_finite(double number, std::string_view name) {
  if (!std::isfinite(number)) refuse(fmt::format("{} {}: use a finite number", name, number));
  return number;
}

void copy_text(const std::string& from, char* text, size_t size) {
  require(text, "text");
  if (size < from.size() + 1)
    throw StatusError(QUARKSMITH_BAD_ARGUMENT,
                      fmt::format("the text needs {} bytes, {} are there; pass a longer array", from.size() + 1, size));
  std::memcpy(text, from.c_str(), from.size() + 1);
}

}  // namespace quarksmith::interface

using namespace quarksmith;
using namespace quarksmith::interface;

const char* quarksmith_status_name(quarksmith_status status) {
  static constexpr std::array names = {
      "QUARKSMITH_OK",           "QUARKSMITH_NOT_CONVERGED", "QUARKSMITH_BAD_ARGUMENT",   "QUARKSMITH_BAD_STRUCT",
      "QUARKSMITH_UNKNOWN_NAME", "QUARKSMITH_WRONG_LATTICE", "QUARKSMITH_MISSING_KERNEL", "QUARKSMITH_BAD_DATA",
      "QUARKSMITH_FILE_ERROR",   "QUARKSMITH_OUT_OF_MEMORY", "QUARKSMITH_DEVICE_ERROR",   "QUARKSMITH_FAILED"};
  const auto n = static_cast<std::size_t>(status);
  return n < names.size() ? names[n] : "unknown status";
}

const char* quarksmith_message() { return last_message.data(); }

quarksmith_status quarksmith_handle_message(const void* handle, char* text, size_t size) {
  // Not a call on the handle: a failure here must not replace the message that is asked for.
  return guarded(__func__, [&] {
    std::shared_ptr<Handle> found = handle_table().find(handle, HandleKind::any, "handle");
    const std::shared_ptr<SharedDomain> shared = found->shared;
    const std::unique_lock lock(shared->mutex);
    const std::shared_ptr<Handle> h = std::move(found);  // ends under the lock
    copy_text(h->message, text, size);
  });
}

void quarksmith_free(void* handle) {
  if (handle == nullptr) return;
  guarded(__func__, [&] {
    std::shared_ptr<Handle> closed = handle_table().close(handle, "handle");
    const std::shared_ptr<SharedDomain> shared = closed->shared;
    const std::unique_lock lock(shared->mutex);
    const std::shared_ptr<Handle> last = std::move(closed);  // ends under the lock
    last->device().attach();
  });
}

const char* quarksmith_version() { return QUARKSMITH_VERSION; }

int quarksmith_devices(const char* target) {
  int count = 0;
  guarded(__func__, [&] {
    require(target, "target");
    const Target* found = find_target(target);
    count = found == nullptr ? 0 : found->devices();
  });
  return count;
}

quarksmith_status quarksmith_synchronize(quarksmith_context* context) {
  return call<Context>(__func__, "context", context, [](Context& c) {
    try {
      c.device().synchronize();
    } catch (const Error& e) {
      throw StatusError(QUARKSMITH_DEVICE_ERROR, e.what());
    }
  });
}

quarksmith_status quarksmith_device_name(quarksmith_context* context, char* text, size_t size) {
  return call<Context>(__func__, "context", context, [&](Context& c) {
    copy_text(fmt::format("{}: {}", c.device().name(), c.device().description()), text, size);
  });
}

quarksmith_status quarksmith_kernel_count(quarksmith_context* context, size_t* count) {
  return call<Context>(__func__, "context", context,
                       [&](Context& c) { *require(count, "count") = c.device().kernels().size(); });
}

quarksmith_status quarksmith_kernel_name(quarksmith_context* context, size_t index, char* text, size_t size) {
  return call<Context>(__func__, "context", context, [&](Context& c) {
    const auto kernels = c.device().kernels();
    if (index >= kernels.size())
      throw StatusError(QUARKSMITH_BAD_ARGUMENT,
                        fmt::format("kernel {} of {}; use a smaller index", index, kernels.size()));
    copy_text(std::string(kernels[index].name), text, size);
  });
}
