// quarksmith.h in C++: it compiles, and its functions have C names.
#include <quarksmith.h>

extern "C" int header_is_cpp();

int header_is_cpp() {
  quarksmith_spinor_format format;
  return quarksmith_spinor_format_init(&format) == QUARKSMITH_OK && format.size == sizeof format;
}
