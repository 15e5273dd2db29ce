// The command `quarksmith`: one subcommand a file.
#include "apps/commands.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "apps/command_table.hpp"
#include "apps/interrupt.hpp"
#include "apps/option_rules.hpp"
#include "apps/options.hpp"
#include "apps/ranks.hpp"
#include "runtime/error.hpp"

namespace quarksmith::apps {

/// In the order of their list.
std::span<const Command> commands() {
  static constexpr Command all[] = {
      {"info", add_info},
      {"list", add_list},
      {"convert", add_convert},
      {"links", add_links},
      {"heatbath", add_heatbath, "gauge"},
      {"hmc", add_hmc, "gauge"},
      {"smear", add_smear, "gauge"},
      {"flow", add_flow, "gauge"},
      {"apply", add_apply},
      {"propagator", add_propagator, "quarks"},
      {"correlators", add_correlators},
      {"measure", add_measure},
      {"eigen", add_eigen, "eigenvectors"},
      {"multigrid", add_multigrid},
      {"solve-bench", add_solve_bench},
      {"bench", add_bench},
      {"accuracy", add_accuracy},
      {"scaling", add_scaling},
      {"sweep", add_sweep, "report", true},
      {"devices", add_devices},
      {"model", add_model},
      {"completion", add_completion, "report", true},
      {"man", add_manual, "report", true},
  };
  return all;
}

int run_command_line(int argc, char** argv) {
  CLI::App app("Quarksmith: generated kernels and solvers for lattice QCD.", "quarksmith");
  app.require_subcommand(1);
  app.set_version_flag("--version", QUARKSMITH_VERSION);
  app.footer(
      "Exit status: 0 done, 1 failed (not converged, data corrupt), 2 wrong use, 128 + n ended by signal n.\n"
      "`quarksmith COMMAND --help` shows the options of a command.");
  app.get_formatter()->column_width(32);
  int status = 0;
  try {
    join_ranks(argc, argv);
    for (const Command& c : commands()) c.add(app, status);
    refuse_impossible_numbers(app);
    check_command(app, argc, argv);
    catch_signals();
    app.parse(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw Error(std::string("standard output cannot be written: ") + std::strerror(errno));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return fail(wrong_use(app, error), 2);
  } catch (const Interrupted& error) {
    return fail(error.what(), error.status());
  } catch (const std::bad_alloc&) {
    return fail("there is too little memory; use a smaller lattice, or more ranks (mpirun)", 1);
  } catch (const UsageError& error) {
    return fail(error.what(), 2);
  } catch (const std::exception& error) {
    return fail(error.what(), 1);
  }
  return status;
}

}  // namespace quarksmith::apps
