#include "apps/options.hpp"
namespace quarksmith::apps { void add_bench(CLI::App&, int&) {} }
