# The host's processors: instruction sets by the architecture that is built for. `cpu_sets` are those of this build, by
# their short names, `cpus` their names in processor.hpp.
set(QUARKSMITH_CPU "AUTO" CACHE STRING
    "Instruction sets of CPU kernels, of which runs take the best one: x86-64-v3 (AVX2), x86-64-v4 (AVX-512); on ARM neon, \
sve256, sve512; several (A;B), all, AUTO (the best of this machine; neon)")

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

list(APPEND targets cpu)
set(cpu_text "cpu (${cpus})")
set(cpu_tables "")
foreach(cpu set IN ZIP_LISTS cpus cpu_sets)
  list(APPEND cpu_tables "${cpu}=cpu_${set}")
endforeach()

# For each load g++ looks past up to a thousand stores for its value: a third of its time in kernels, whose loads and
# stores are to different fields.
include(CheckCXXCompilerFlag)
set(alias_queries --param=sccvn-max-alias-queries-per-access=200)
check_cxx_compiler_flag(${alias_queries} QUARKSMITH_ALIAS_QUERIES)
if(NOT QUARKSMITH_ALIAS_QUERIES)
  set(alias_queries "")
endif()

# Sums that are exact as they are written.
set_source_files_properties(runtime/targets/cpu/slices.cpp PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=off")

# Every kernel for each instruction set of the build: object libraries quarksmith_cpu_v3, quarksmith_cpu_neon, ...
function(quarksmith_cpu_kernels suffix generated)
  file(GLOB kernels CONFIGURE_DEPENDS "${generated}/cpu/*.cpp")
  if(NOT kernels)
    message(FATAL_ERROR "${generated} holds no kernels; "
            "run `python -m generator generate --profile PROFILE --out ${generated}`")
  endif()
  # At -O3 g++ 12 takes 207 s for the force of six colours, at -O1 11 s.
  set(large ${kernels})
  list(FILTER large INCLUDE REGEX "/force_[^/]*_c[5-9][^/]*$")
  set_source_files_properties(${large} PROPERTIES COMPILE_OPTIONS -O1)
  cmake_path(GET generated PARENT_PATH parent)  # where `generated/...` is found, whatever profile it came from
  set(objects "")
  foreach(set ${cpu_sets})
    set(target quarksmith_cpu_${set}${suffix})
    quarksmith_objects(${target} ${kernels})
    target_include_directories(${target} PRIVATE "${parent}" "${CMAKE_SOURCE_DIR}")
    target_compile_definitions(${target} PRIVATE QUARKSMITH_TARGET=cpu_${set})
    target_compile_options(${target} PRIVATE -O3 ${alias_queries} ${cpu_options_${set}}
                           -ffp-contract=fast -fno-math-errno -Wno-psabi -Wall -Wextra)
    target_link_libraries(${target} PRIVATE OpenMP::OpenMP_CXX)
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  set(objects ${objects} PARENT_SCOPE)
endfunction()
