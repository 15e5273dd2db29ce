// quarksmith.h in C++: it compiles, and its functions have C names.
#include <quarksmith.h>

#include <cstring>

extern "C" int header_is_cpp();

int header_is_cpp() {
  quarksmith_solver_settings settings;
  return quarksmith_solver_settings_init(&settings) == QUARKSMITH_OK && settings.size == sizeof settings &&
         std::strcmp(settings.method, "auto") == 0;
}
