/** \file
 * What the tests of the C interface share: checks that count, and arrays of other orders made by plain loops.
 */
#ifndef CHECK_H
#define CHECK_H

#include <quarksmith.h>

#include "lattice.h"

/** Counts a check; prints the text if it failed. */
void check(int passed, const char* format, ...);
/** The call must succeed. */
void check_ok(quarksmith_status status, const char* what);
/** The call must have returned `wanted`, and its message must hold both texts. */
void refused(quarksmith_status status, quarksmith_status wanted, const char* operand, const char* remedy);
/** The value must be at most the limit (and a number). */
void check_below(double value, double limit, const char* what);
/** Checks so far, and how many of them failed. */
int checks(int* failed);

/** A gauge field of the lattice's links, default format. */
quarksmith_gauge* load_gauge(quarksmith_context* context, const lattice* l);
/** A text of options, one of the last twenty; of the first thread alone. */
const char* options(const char* format, ...);
/** The lattice's action. */
const char* action_of(const lattice* l);
/** Random spinors, to be freed. */
number* random_spinor(const lattice* l, unsigned long long seed);

/** place[site]: where sites stand when they are counted along `axes` (fastest first), even ones first if asked. */
void number_sites(const lattice* l, int sites, const int axes[4], int* place);
/** Bytes of an array of spinors of any format; to be freed. */
void* spinor_array(const lattice* l);
/** A spinor field [site][spin][colour] as an array of a format, and back; of `parity` (2: all) sites. */
void to_array(const lattice* l, const quarksmith_spinor_format* format, int parity, const number* from, void* to);
void from_array(const lattice* l, const quarksmith_spinor_format* format, int parity, const void* from, number* to);
/** The links as arrays of a format: one, or four. */
void to_links(const lattice* l, const quarksmith_link_format* format, void* const to[4]);

/* The tests; each on a device as quarksmith_open takes it. */
void test_link_orders(const char* device);
void test_spinor_orders(const char* device);
void test_boundary(const char* device);
void test_operators(const char* device);
void test_fields(const char* device);
void test_solvers(const char* device);
void test_statuses(const char* device);
void test_handles(const char* device);
void test_threads(const char* device);
void test_dynamics(const char* device);
void test_dynamics_statuses(const char* device);
void test_actions(const char* device);
void test_commands(const char* device);
void test_refusals(const char* device);
/** Prints actions and norms of forces on a configuration of 4^4; 0 if that went well. */
int print_dynamics(const char* path);
/** Prints those of these commands that quarksmith_run takes; the last name is NULL. */
int print_offered(char* const* names);

#endif
