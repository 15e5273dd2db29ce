# The library and the command of one rendered profile. Host code and the sources of the command know no kernel: a build
# folder compiles them once (quarksmith_host, quarksmith_apps), for all profiles that it holds.

# Objects, of position-independent code where a shared library is made of them.
function(quarksmith_objects target)
  add_library(${target} OBJECT ${ARGN})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE "${BUILD_SHARED_LIBS}")
  target_compile_features(${target} PRIVATE cxx_std_20)
endfunction()

# For each load g++ looks past up to a thousand stores for its value: a third of its time in kernels, whose loads and
# stores are to different fields.
include(CheckCXXCompilerFlag)
set(alias_queries --param=sccvn-max-alias-queries-per-access=200)
check_cxx_compiler_flag(${alias_queries} QUARKSMITH_ALIAS_QUERIES)
if(NOT QUARKSMITH_ALIAS_QUERIES)
  set(alias_queries "")
endif()

# Every CPU kernel for each instruction set of the build: targets quarksmith_cpu_v3, quarksmith_cpu_neon, ..., whose
# objects are cpu_objects.
function(quarksmith_cpu_kernels suffix generated)
  file(GLOB kernels CONFIGURE_DEPENDS "${generated}/cpu/*.cpp")
  if(NOT kernels)
    message(FATAL_ERROR "${generated} holds no kernels; "
            "run `python -m generator generate --profile PROFILE --out ${generated}`")
  endif()
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
  set(cpu_objects ${objects} PARENT_SCOPE)
endfunction()

function(quarksmith_cuda_kernels suffix generated options)
  file(GLOB kernels CONFIGURE_DEPENDS "${generated}/cuda/*.cu")
  cmake_path(GET generated PARENT_PATH parent)
  file(GLOB kernels_of_all CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/runtime/kernels/targets/*.cu")
  add_library(quarksmith_cuda_kernels${suffix} OBJECT ${kernels} ${kernels_of_all})
  set_target_properties(quarksmith_cuda_kernels${suffix} PROPERTIES POSITION_INDEPENDENT_CODE "${BUILD_SHARED_LIBS}")
  target_include_directories(quarksmith_cuda_kernels${suffix} PRIVATE "${parent}" "${CMAKE_SOURCE_DIR}")
  target_compile_options(quarksmith_cuda_kernels${suffix} PRIVATE ${options})
endfunction()

# Targets quarksmith_library<suffix> and quarksmith<suffix>, of the sources in `generated`, into `folder`. CUDA kernels
# and the table of tuned variants are those in `cuda_generated`, compiled with `cuda_options`; if it is empty, there are
# no CUDA kernels.
function(quarksmith_profile suffix generated cuda_generated cuda_options folder)
  set(library quarksmith_library${suffix})
  set(tuned "${generated}")
  if(cuda_generated)
    set(tuned "${cuda_generated}")
  endif()
  quarksmith_cpu_kernels("${suffix}" "${generated}")
  add_library(${library} $<TARGET_OBJECTS:quarksmith_host> "${generated}/tables.cpp" "${generated}/actions.cpp"
              "${tuned}/tuned.cpp"
              "${cpu_list}" ${cpu_objects})
  set_target_properties(${library} PROPERTIES OUTPUT_NAME quarksmith EXPORT_NAME quarksmith VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                        POSITION_INDEPENDENT_CODE "${BUILD_SHARED_LIBS}"
                        ARCHIVE_OUTPUT_DIRECTORY "${folder}" LIBRARY_OUTPUT_DIRECTORY "${folder}")
  target_compile_features(${library} PUBLIC cxx_std_20)
  target_compile_options(${library} PRIVATE -Wall -Wextra)
  # Programs include <quarksmith.h>, wherever it is: beside its sources, or below the prefix.
  target_include_directories(${library} PUBLIC
                             $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/interface> $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>
                             $<INSTALL_INTERFACE:include> $<INSTALL_INTERFACE:include/quarksmith>)
  target_link_libraries(${library} PUBLIC OpenMP::OpenMP_CXX PRIVATE ${host_libraries})
  if(cuda_generated)
    quarksmith_cuda_kernels("${suffix}" "${cuda_generated}" "${cuda_options}")
    set_source_files_properties("${cuda_generated}/cuda/registry.cpp" PROPERTIES COMPILE_DEFINITIONS
                                QUARKSMITH_TARGET=cuda)
    target_sources(${library} PRIVATE runtime/device_cuda.cpp "${cuda_generated}/cuda/registry.cpp"
                   $<TARGET_OBJECTS:quarksmith_cuda_kernels${suffix}>)
    target_link_libraries(${library} PRIVATE CUDA::cudart_static)
  else()
    target_sources(${library} PRIVATE runtime/device_no_cuda.cpp)
  endif()
  add_executable(quarksmith${suffix} $<TARGET_OBJECTS:quarksmith_apps>)
  set_target_properties(quarksmith${suffix} PROPERTIES OUTPUT_NAME quarksmith RUNTIME_OUTPUT_DIRECTORY "${folder}/bin"
                        LINKER_LANGUAGE CXX)
  target_link_libraries(quarksmith${suffix} PRIVATE ${library} CLI11::CLI11 ${fmt_library}
                        nlohmann_json::nlohmann_json)
endfunction()

# Renders the sources again, with the variants tuned for `devices` alone, into `out`: CUDA kernels are compiled from
# there, everything else is as in QUARKSMITH_GENERATED.
function(quarksmith_render_devices devices out)
  file(STRINGS "${QUARKSMITH_GENERATED}/tables.cpp" banner LIMIT_COUNT 1)
  string(REGEX MATCH "--profile ([^`]+)`" matched "${banner}")
  set(profile "${CMAKE_MATCH_1}")
  if(QUARKSMITH_PROFILE)
    set(profile "${QUARKSMITH_PROFILE}")
  endif()
  if(NOT QUARKSMITH_GENERATED STREQUAL "${CMAKE_SOURCE_DIR}/generated" AND EXISTS "${QUARKSMITH_GENERATED}/tuned")
    file(COPY "${QUARKSMITH_GENERATED}/tuned" DESTINATION "${out}")  # its own evidence
  endif()
  file(GLOB rendered CONFIGURE_DEPENDS "${QUARKSMITH_GENERATED}/cuda/*" "${QUARKSMITH_GENERATED}/bodies/*")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${rendered} "${QUARKSMITH_GENERATED}/tuned.cpp")
  string(REPLACE ";" "," devices "${devices}")
  quarksmith_generate(error --profile "${profile}" --devices "${devices}" --out "${out}")
  if(error)
    message(FATAL_ERROR "QUARKSMITH_DEVICES=${devices}: ${error}")
  endif()
endfunction()
