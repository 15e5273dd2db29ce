# Instruction sets of the CPU kernels, by the architecture that is built for. `cpu_sets` are those of this build, by their
# short names (v3: namespace cpu_v3), `cpus` their names in runtime/processor.hpp, `cpu_list` is a source that lists
# their kernels.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(known_sets v3 v4)  # AVX2, AVX-512
  set(name_prefix "x86-64-")
  foreach(set ${known_sets})
    set(cpu_options_${set} -march=x86-64-${set} -mprefer-vector-width=512)
  endforeach()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(known_sets neon sve256 sve512)
  set(name_prefix "")
  set(cpu_options_neon -march=armv8-a)
  foreach(bits 256 512)
    set(cpu_options_sve${bits} -march=armv8.2-a+sve -msve-vector-bits=${bits})
  endforeach()
  foreach(set ${known_sets})
    # Scheduling before registers are given out, which g++ does on these processors, stores 2.5 times as many of them.
    list(APPEND cpu_options_${set} -fno-schedule-insns)
  endforeach()
else()
  message(FATAL_ERROR "There are no CPU kernels for processors of type ${CMAKE_SYSTEM_PROCESSOR}; x86-64 and 64-bit ARM have "
          "some (docs/howto-target.md)")
endif()
list(TRANSFORM known_sets PREPEND "${name_prefix}" OUTPUT_VARIABLE known_names)

set(cpus ${QUARKSMITH_CPU})
if(QUARKSMITH_CPU STREQUAL "AUTO")
  list(GET known_names 0 cpus)
  if(cpus STREQUAL "x86-64-v3" AND EXISTS /proc/cpuinfo)
    file(READ /proc/cpuinfo processors)
    if(processors MATCHES " avx512f" AND processors MATCHES " avx512bw" AND processors MATCHES " avx512cd" AND
       processors MATCHES " avx512dq" AND processors MATCHES " avx512vl")
      set(cpus x86-64-v4)
    endif()
  endif()
elseif(QUARKSMITH_CPU STREQUAL "all")
  set(cpus ${known_names})
endif()

list(JOIN known_names ", " choice)
set(cpu_sets "")
foreach(cpu ${cpus})
  string(REGEX REPLACE "^x86-64-" "" set "${cpu}")
  if(NOT set IN_LIST known_sets)
    message(FATAL_ERROR "QUARKSMITH_CPU=${QUARKSMITH_CPU}: ${cpu} is unknown on ${CMAKE_SYSTEM_PROCESSOR}; use ${choice}, several of "
            "them, all or AUTO")
  endif()
  list(APPEND cpu_sets ${set})
endforeach()
if(NOT cpu_sets)
  message(FATAL_ERROR "QUARKSMITH_CPU is empty; use ${choice}, several of them, all or AUTO")
endif()
list(REMOVE_DUPLICATES cpu_sets)
list(TRANSFORM cpu_sets PREPEND "${name_prefix}" OUTPUT_VARIABLE cpus)

# Their kernels, for runtime/processor.hpp: each set has a registry of its own.
set(declared "")
set(listed "")
foreach(set ${cpu_sets})
  string(APPEND declared "\nnamespace cpu_${set} {\nstd::span<const Kernel> kernels();\n}")
  string(APPEND listed "\n  all[instruction_set(\"${set}\")] = cpu_${set}::kernels();")
endforeach()
set(cpu_list "${CMAKE_BINARY_DIR}/listed/instruction_sets.cpp")
file(CONFIGURE OUTPUT "${cpu_list}" @ONLY CONTENT "// Made by cmake/instruction_sets.cmake.
#include \"runtime/processor.hpp\"
#include \"runtime/registry.hpp\"

namespace quarksmith {
@declared@

CpuKernels built_cpu_kernels() {
  CpuKernels all;@listed@
  return all;
}

}  // namespace quarksmith
")
