// The command `quarksmith`: one subcommand a file.
#include <fmt/format.h>

#include <cstdio>

#include "apps/options.hpp"
#include "runtime/error.hpp"

int main(int argc, char** argv) {
  using namespace quarksmith;
  CLI::App app("Quarksmith: generated kernels and solvers for lattice QCD.", "quarksmith");
  app.require_subcommand(1);
  app.set_version_flag("--version", QUARKSMITH_VERSION);
  app.footer(
      "Exit status: 0 done, 1 failed (not converged, data corrupt), 2 wrong use.\n"
      "`quarksmith COMMAND --help` shows the options of a command.");
  app.get_formatter()->column_width(32);
  int status = 0;
  try {
    apps::add_info(app, status);
    apps::add_convert(app, status);
    apps::add_heatbath(app, status);
    apps::add_propagator(app, status);
    apps::add_solve_bench(app, status);
    apps::add_bench(app, status);
    apps::add_accuracy(app, status);
    apps::add_sweep(app, status);
    apps::add_devices(app, status);
    const std::string first = argc > 1 ? argv[1] : "";
    const auto named = [&first](const CLI::App* command) { return command->get_name() == first; };
    if (!first.empty() && first[0] != '-' && app.get_subcommands(named).empty())
      throw UsageError(fmt::format("command '{}' is unknown; `quarksmith --help` lists all", first));
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const UsageError& error) {
    fmt::print(stderr, "quarksmith: error: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "quarksmith: error: {}\n", error.what());
    return 1;
  }
  return status;
}
