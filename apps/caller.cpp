#include "apps/caller.hpp"

#include <cstdlib>
#include <mutex>
#include <new>

#include "apps/interrupt.hpp"

namespace quarksmith::apps {
namespace {

thread_local Caller* of_this_command = nullptr;
std::mutex counting;
int under_way = 0;  ///< callers of all threads: signals and times begin anew where there is none

}  // namespace

Caller* caller() { return of_this_command; }

CalledBy::CalledBy(Caller& c) {
  of_this_command = &c;
  const std::lock_guard lock(counting);
  if (under_way++ == 0) begin_anew();
}

CalledBy::~CalledBy() {
  of_this_command = nullptr;
  const std::lock_guard lock(counting);
  if (--under_way == 0) begin_anew();
}

Printed::Printed() : file_(open_memstream(&text_, &size_)), before_(stdout) {
  if (file_ == nullptr) throw std::bad_alloc();
  stdout = file_;
}

Printed::~Printed() {
  stdout = before_;
  std::fclose(file_);
  std::free(text_);
}

std::string Printed::text() {
  std::fflush(file_);
  return {text_, size_};
}

}  // namespace quarksmith::apps
