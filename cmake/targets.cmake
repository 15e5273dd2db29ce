# Targets that kernels are built for: `targets`, the host's processors first; all that there are: `known_targets`.
# runtime/targets/NAME/target.cmake appends NAME to the former if it can be built, and then sets
#   NAME_text       what it is, in words
#   NAME_tables     its tables of kernels, each TABLE=NAMESPACE
#   NAME_libraries  that its device code is linked with, NAME_packages where they are found
#   NAME_found      whether a device is on this machine
# and defines the function quarksmith_NAME_kernels(suffix generated), which sets `objects` in its caller's scope. Where
# it sets `devices`, kernels are rendered with the variants tuned for these alone; rendered_for_tests: a sample of them.

set(targets "")
set(devices "${QUARKSMITH_DEVICES}")
set(rendered_for_tests OFF)
file(GLOB known_targets RELATIVE "${CMAKE_SOURCE_DIR}/runtime/targets" CONFIGURE_DEPENDS runtime/targets/*/target.cmake)
list(TRANSFORM known_targets REPLACE "/.*" "")
list(REMOVE_ITEM known_targets cpu)
list(PREPEND known_targets cpu)
set(texts "")
foreach(target ${known_targets})
  include(runtime/targets/${target}/target.cmake)
  list(APPEND texts ${${target}_text})
endforeach()
list(JOIN texts ", " texts)
message(STATUS "Targets: ${texts}")

# What opens the devices of a target: quarksmith_NAME_device, once for all profiles.
function(quarksmith_target_device target)
  file(GLOB sources CONFIGURE_DEPENDS runtime/targets/${target}/*.cpp runtime/targets/${target}/*.cu)
  quarksmith_objects(quarksmith_${target}_device ${sources})
  target_include_directories(quarksmith_${target}_device PRIVATE "${CMAKE_SOURCE_DIR}")
  target_compile_options(quarksmith_${target}_device PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra>)
  target_compile_definitions(quarksmith_${target}_device PRIVATE $<$<BOOL:${MPI_C_FOUND}>:QUARKSMITH_MPI>)
  target_link_libraries(quarksmith_${target}_device PRIVATE OpenMP::OpenMP_CXX ${host_libraries} ${${target}_libraries})
endfunction()

# Writes `out`, which lists targets and their tables for runtime/target.hpp and runtime/registry.hpp.
function(quarksmith_list_targets out)
  set(declared "")
  set(tables "")
  foreach(target ${ARGN})
    string(APPEND declared "\nnamespace ${target} {\nextern const Target target;\n}")
    foreach(table ${${target}_tables})
      string(REGEX MATCH "^(.*)=(.*)$" matched "${table}")
      string(APPEND declared "\nnamespace ${CMAKE_MATCH_2} {\nstd::span<const Kernel> kernels();\n}")
      list(APPEND tables "{\"${CMAKE_MATCH_1}\", ${CMAKE_MATCH_2}::kernels()}")
    endforeach()
  endforeach()
  list(JOIN tables ", " tables)
  list(TRANSFORM ARGN REPLACE "(.+)" "&\\1::target" OUTPUT_VARIABLE built)
  list(JOIN built ", " built)
  list(JOIN known_targets "\", \"" names)
  file(CONFIGURE OUTPUT "${out}" @ONLY CONTENT "// Made by cmake/targets.cmake.
#include \"runtime/registry.hpp\"

namespace quarksmith {
@declared@

std::span<const Target* const> targets() {
  static constexpr const Target* all[] = {@built@};
  return all;
}

std::span<const std::string_view> target_names() {
  static constexpr std::string_view all[] = {\"@names@\"};
  return all;
}

std::span<const KernelTable> built_kernels() {
  static const KernelTable all[] = {@tables@};
  return all;
}

}  // namespace quarksmith
")
endfunction()
