// The command `quarksmith`: one subcommand a file.
#include <fmt/format.h>

#include "apps/options.hpp"
#include "apps/ranks.hpp"
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
    apps::join_ranks(argc, argv);
    apps::add_info(app, status);
    apps::add_convert(app, status);
    apps::add_links(app, status);
    apps::add_heatbath(app, status);
    apps::add_smear(app, status);
    apps::add_flow(app, status);
    apps::add_apply(app, status);
    apps::add_propagator(app, status);
    apps::add_correlators(app, status);
    apps::add_solve_bench(app, status);
    apps::add_bench(app, status);
    apps::add_accuracy(app, status);
    apps::add_scaling(app, status);
    apps::add_sweep(app, status);
    apps::add_devices(app, status);
    apps::add_model(app, status);
    const std::string first = argc > 1 ? argv[1] : "";
    const auto named = [&first](const CLI::App* command) { return command->get_name() == first; };
    if (!first.empty() && first[0] != '-' && app.get_subcommands(named).empty())
      throw UsageError(fmt::format("command '{}' is unknown; `quarksmith --help` lists all", first));
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // All ranks have the same command line: one of them tells what is wrong with it.
    const bool tells = Communicator::world()->rank() == 0;
    return (tells ? app.exit(error) : error.get_exit_code()) == 0 ? 0 : 2;
  } catch (const UsageError& error) {
    return apps::fail(error.what(), 2);
  } catch (const std::exception& error) {
    return apps::fail(error.what(), 1);
  }
  return status;
}
