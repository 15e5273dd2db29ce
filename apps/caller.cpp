#include "apps/caller.hpp"

#include "apps/interrupt.hpp"

namespace quarksmith::apps {
namespace {

Caller* of_this_command = nullptr;

}  // namespace

Caller* caller() { return of_this_command; }

CalledBy::CalledBy(Caller& c) {
  of_this_command = &c;
  begin_anew();
}

CalledBy::~CalledBy() {
  of_this_command = nullptr;
  begin_anew();
}

}  // namespace quarksmith::apps
