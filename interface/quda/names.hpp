/// \file
/// Lists of names of QUDA as macros: of functions that are refused, and of members of its structs with their defaults.
#pragma once

// m(with, name) for each name.
#define QUDA_EXPAND(...) QUDA_EXPAND3(QUDA_EXPAND3(QUDA_EXPAND3(__VA_ARGS__)))
#define QUDA_EXPAND3(...) QUDA_EXPAND2(QUDA_EXPAND2(QUDA_EXPAND2(__VA_ARGS__)))
#define QUDA_EXPAND2(...) QUDA_EXPAND1(QUDA_EXPAND1(QUDA_EXPAND1(__VA_ARGS__)))
#define QUDA_EXPAND1(...) __VA_ARGS__
#define QUDA_NOTHING ()
#define QUDA_EACH(m, with, name, ...) m(with, name) __VA_OPT__(QUDA_AGAIN QUDA_NOTHING(m, with, __VA_ARGS__))
#define QUDA_AGAIN() QUDA_EACH
#define QUDA_FOR_EACH(m, with, ...) QUDA_EXPAND(QUDA_EACH(m, with, __VA_ARGS__))

// Functions that end the program. Where they stand quda.h is not included: a name alone is what a program links.
#define QUDA_REFUSED(remedy, ...) QUDA_FOR_EACH(QUDA_REFUSE, remedy, __VA_ARGS__)
#define QUDA_REFUSE(remedy, name) \
  extern "C" void name() { quarksmith::quda::refuse(#name, remedy); }

// visit(name, member, value) for each member.
#define QUDA_MEMBERS(value, ...) QUDA_FOR_EACH(QUDA_MEMBER, value, __VA_ARGS__)
#define QUDA_MEMBER(value, name) visit(#name, name, value);
