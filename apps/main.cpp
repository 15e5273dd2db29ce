// The command `quarksmith`: one subcommand a file.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "apps/command_table.hpp"
#include "apps/interrupt.hpp"
#include "apps/option_rules.hpp"
#include "apps/ranks.hpp"
#include "runtime/error.hpp"

int main(int argc, char** argv) {
  using namespace quarksmith;
  CLI::App app("Quarksmith: generated kernels and solvers for lattice QCD.", "quarksmith");
  app.require_subcommand(1);
  app.set_version_flag("--version", QUARKSMITH_VERSION);
  app.footer(
      "Exit status: 0 done, 1 failed (not converged, data corrupt), 2 wrong use, 128 + n ended by signal n.\n"
      "`quarksmith COMMAND --help` shows the options of a command.");
  app.get_formatter()->column_width(32);
  int status = 0;
  try {
    apps::join_ranks(argc, argv);
    apps::add_info(app, status);
    apps::add_list(app, status);
    apps::add_convert(app, status);
    apps::add_links(app, status);
    apps::add_heatbath(app, status);
    apps::add_hmc(app, status);
    apps::add_smear(app, status);
    apps::add_flow(app, status);
    apps::add_apply(app, status);
    apps::add_propagator(app, status);
    apps::add_correlators(app, status);
    apps::add_measure(app, status);
    apps::add_eigen(app, status);
    apps::add_solve_bench(app, status);
    apps::add_bench(app, status);
    apps::add_accuracy(app, status);
    apps::add_scaling(app, status);
    apps::add_sweep(app, status);
    apps::add_devices(app, status);
    apps::add_model(app, status);
    apps::add_completion(app, status);
    apps::add_manual(app, status);
    apps::refuse_impossible_numbers(app);
    apps::check_command(app, argc, argv);
    apps::catch_signals();
    app.parse(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw Error(std::string("standard output cannot be written: ") + std::strerror(errno));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return apps::fail(apps::wrong_use(app, error), 2);
  } catch (const apps::Interrupted& error) {
    return apps::fail(error.what(), error.status());
  } catch (const std::bad_alloc&) {
    return apps::fail("there is too little memory; use a smaller lattice, or more ranks (mpirun)", 1);
  } catch (const UsageError& error) {
    return apps::fail(error.what(), 2);
  } catch (const std::exception& error) {
    return apps::fail(error.what(), 1);
  }
  return status;
}
