"""What `make test` leaves to `make test-full`."""

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

LEFT_TO_FULL = """
command/test_build.py::test_kernels_for_tests_alone_change_objects_of_cuda_alone
command/test_build.py::test_tests_and_the_demo_add_objects_and_change_none
command/test_dist.py::test_a_clone_renders_what_it_lacks_and_what_is_old
command/test_dist.py::test_a_clone_says_what_rendering_needs
command/test_dist.py::test_a_commit_gives_the_same_bytes_and_nothing_is_replaced_unasked
command/test_dist.py::test_what_is_not_committed_or_not_rendered_is_told
command/test_export.py::test_a_wrong_sign_is_found?wilson_double*
command/test_export.py::test_an_exported_kernel_agrees_with_its_reference?[!r]*
command/test_export.py::test_the_cuda_form_compiles?wilson*
command/test_expression.py::test_spins_signs_corners_and_phases_in_both_bases
command/test_expression_ranks.py::test_a_jacobi_source_is_that_of_one_process?4-*
command/test_force_norms.py::test_forces_that_join_give_the_same_trajectory*omelyan?
command/test_hip.py::test_a_sample_of_kernels_compiles_for_each_architecture
command/test_hip.py::test_an_exported_kernel_runs_on_the_host_and_agrees_with_its_reference?[!c]*
command/test_hip.py::test_functions_of_the_target_agree_with_plain_arithmetic?32?
command/test_hmc.py::test_energy_is_kept_with_every_action?hisq?
command/test_hmc.py::test_trajectories_are_those_of_other_codes?1-milc_su3_*
command/test_hmc.py::test_trajectories_are_those_of_other_codes?100-*
command/test_hmc_examples.py::test_examples_keep_their_energy?hmc_asqtad?
command/test_hmc_examples.py::test_examples_keep_their_energy?hmc_hisq?
command/test_hmc_ranks.py::test_every_quark_has_the_bits_of_one_process?*symmetric twist*
command/test_hmc_ranks.py::test_every_quark_has_the_bits_of_one_process?hisq?
command/test_hmc_ranks.py::test_every_quark_has_the_bits_of_one_process?moebius on all sites?
command/test_hmc_ranks.py::test_every_quark_has_the_bits_of_one_process?naive?
command/test_hmc_ranks.py::test_every_quark_has_the_bits_of_one_process?one flavour?
command/test_hmc_ranks.py::test_every_quark_has_the_bits_of_one_process?ratio of twists?
command/test_hmc_ranks.py::test_every_quark_has_the_bits_of_one_process?twist?
command/test_hmc_ranks.py::test_two_ranks_have_twice_the_numbers_of_milc_on_twice_its_lattice*
command/test_hmc_solves.py::test_poles_are_solved_for_in_every_precision?hisq?
command/test_install.py::test_programs_of_the_pages_print_what_they_say
command/test_kernel.py::test_any_kernel_is_compiled_and_tested?staggered*
command/test_kernel.py::test_any_kernel_is_compiled_and_tested?wilson_taxpby*
command/test_kernel.py::test_errors_that_kernels_and_tables_share_fail_the_tests
command/test_kernel.py::test_planted_errors_fail_the_tests
command/test_kernel.py::test_the_cache_gives_only_what_was_built_and_two_that_build_do_not_disturb_each_other
command/test_measure.py::test_ranks_measure_the_same
command/test_measure_data.py::test_exact_disconnected_loops
command/test_model.py::test_other_hops_are_timed_but_are_no_measurements_of_the_model
command/test_multigrid_ranks.py::test_a_trajectory_is_that_of_one_process
command/test_multigrid_ranks.py::test_near_null_vectors_serve_any_number_of_ranks
command/test_notebooks.py::test_a_notebook_runs?kernel?
command/test_on_demand.py::test_all_kernels_of_a_run_are_named_compiled_and_tested_at_once
command/test_pyquda.py::test_hmc_of_pyquda
command/test_pyquda.py::test_pions_of_pyquda_are_ours
command/test_python_cells.py::test_an_action_takes_a_field_as_an_array
command/test_python_cells.py::test_momenta_and_links_are_written
command/test_python_given.py::test_a_field_may_hold_any_numbers
command/test_python_ranks.py::test_all_calls_give_the_bits_of_one_process?4*
command/test_quda_solves.py::test_every_setting_is_right_or_refused_by_name?[!0]?
command/test_ranks.py::test_propagator_is_that_of_one_process?wilson?
command/test_ranks.py::test_ranks_divide_the_processors_of_their_host
command/test_residual.py::test_quarks_of_walls_are_those_of_the_links_in_the_file?moebius*
command/test_solver.py::test_default_goes_on_with_cg_and_says_so
command/test_split.py::test_propagators_have_the_same_bits?2-*moebius?
command/test_split.py::test_propagators_have_the_same_bits?4-*
command/test_stated.py::test_energies_of_free_quarks_are_zeros_of_the_determinant
command/test_stated.py::test_several_ranks_solve_as_one?[!d]*
command/test_sweep.py::test_a_faster_candidate_with_a_wrong_sign_is_rejected
command/test_sweep.py::test_a_racy_candidate_is_rejected
command/test_sweep.py::test_a_tuned_build_compares_with_the_kernel_itself
command/test_sweep.py::test_an_expression_is_timed_along_all_directions
command/test_sweep.py::test_expressions_with_numbers_at_sites_and_propagators_are_compared
command/test_sweep.py::test_what_was_measured_as_it_is_needs_no_further_sweep
generator/test_setup.py::test_an_active_environment_is_used_where_there_is_no_package_index
generator/test_statement_file.py::test_nothing_else_has_to_be_edited
"""
"""Patterns of tests that take long and of which the others show a part, or the like on fewer ranks."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks them `full`; a pattern that matches nothing is an error where all tests are collected."""
    patterns = LEFT_TO_FULL.split("\n")[1:-1]
    ids = {str(item.nodeid).removeprefix("tests/"): item for item in items}
    for name, item in ids.items():
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            item.add_marker("full")
    functions = {name.partition("[")[0] for name in ids}
    lost = [p for p in patterns if not functions & {re.split("[?*]", p)[0]}]
    if lost and {Path(a).resolve() for a in config.args} == {Path(__file__).parent}:
        raise pytest.UsageError(f"tests/conftest.py: no test is called {', '.join(lost)}")
