/* Tests of the C interface on the CPU and, if there is one, the first GPU; given a configuration of 4^4, actions and
 * forces on it for tests/command/test_hmc_examples.py; given `offers` and names of commands, those that can be called.
 */
#include <stdio.h>

#include "check.h"

int header_is_cpp(void);         /* header.cpp */
int given_fields_are_read(void); /* given_fields.cpp */

int main(int count, char** arguments) {
  if (count == 2) return print_dynamics(arguments[1]);
  if (count > 2) return print_offered(arguments + 2);
  const char* devices[2] = {"cpu", "cuda:0"};
  const int used = quarksmith_devices("cuda") > 0 ? 2 : 1;
  for (int d = 0; d < used; ++d) {
    test_link_orders(devices[d]);
    test_spinor_orders(devices[d]);
    test_boundary(devices[d]);
    test_operators(devices[d]);
    test_fields(devices[d]);
    test_solvers(devices[d]);
    test_statuses(devices[d]);
    test_handles(devices[d]);
    test_threads(devices[d]);
    test_dynamics(devices[d]);
    test_dynamics_statuses(devices[d]);
    test_actions(devices[d]);
    test_commands(devices[d]);
    test_refusals(devices[d]);
  }
  check(header_is_cpp(), "the header means the same in C++");
  check(given_fields_are_read(), "fields of the caller");
  int failed = 0;
  const int made = checks(&failed);
  printf("C interface: %d checks on %s, %d failed\n", made, used == 2 ? "cpu and cuda:0" : "cpu", failed);
  return failed == 0 ? 0 : 1;
}
