# The library and the command of one rendered profile. Host code and the sources of the command know no kernel: a build
# folder compiles them once (quarksmith_host, quarksmith_runs, quarksmith_apps, quarksmith_interface), for all profiles that it holds.

# Objects of position-independent code: the library, shared or not, and the module of Python are made of the same ones.
function(quarksmith_objects target)
  add_library(${target} OBJECT ${ARGN})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PRIVATE cxx_std_20)
endfunction()

# Targets quarksmith_library<suffix> and quarksmith<suffix>, of the sources in `generated`, into `folder`, for the CPU and
# the further targets named; their kernels and the table of tuned variants are those in `tuned`.
function(quarksmith_profile suffix generated tuned folder)
  set(library quarksmith_library${suffix})
  set(list "${folder}/listed/targets.cpp")
  quarksmith_list_targets("${list}" cpu ${ARGN})
  quarksmith_cpu_kernels("${suffix}" "${generated}")
  add_library(${library} $<TARGET_OBJECTS:quarksmith_host> $<TARGET_OBJECTS:quarksmith_runs> $<TARGET_OBJECTS:quarksmith_apps>
              $<TARGET_OBJECTS:quarksmith_interface> $<TARGET_OBJECTS:quarksmith_cpu_device>
              "${generated}/tables.cpp" "${generated}/actions.cpp" "${tuned}/tuned.cpp" "${list}" ${objects})
  set_target_properties(${library} PROPERTIES OUTPUT_NAME quarksmith EXPORT_NAME quarksmith VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                        POSITION_INDEPENDENT_CODE ON
                        ARCHIVE_OUTPUT_DIRECTORY "${folder}" LIBRARY_OUTPUT_DIRECTORY "${folder}")
  target_compile_features(${library} PUBLIC cxx_std_20)
  target_compile_options(${library} PRIVATE -Wall -Wextra)
  # Programs include <quarksmith.h>, wherever it is: beside its sources, or below the prefix.
  target_include_directories(${library} PUBLIC
                             $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/interface> $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>
                             $<INSTALL_INTERFACE:include> $<INSTALL_INTERFACE:include/quarksmith>)
  target_link_libraries(${library} PUBLIC OpenMP::OpenMP_CXX PRIVATE ${host_libraries})
  foreach(target ${ARGN})
    cmake_language(CALL quarksmith_${target}_kernels "${suffix}" "${tuned}")
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:quarksmith_${target}_device> ${objects})
    target_link_libraries(${library} PRIVATE ${${target}_libraries})
  endforeach()
  add_executable(quarksmith${suffix} "${CMAKE_SOURCE_DIR}/apps/main.cpp")
  set_target_properties(quarksmith${suffix} PROPERTIES OUTPUT_NAME quarksmith RUNTIME_OUTPUT_DIRECTORY "${folder}/bin"
                        LINKER_LANGUAGE CXX)
  target_link_libraries(quarksmith${suffix} PRIVATE ${library})
endfunction()

# Renders the sources again, with the variants tuned for `devices` alone, into `out`: kernels of GPUs are compiled from
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
  file(GLOB rendered CONFIGURE_DEPENDS "${QUARKSMITH_GENERATED}/*/*")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${rendered} "${QUARKSMITH_GENERATED}/tuned.cpp")
  string(REPLACE ";" "," devices "${devices}")
  set(sample "")
  if(rendered_for_tests AND NOT profile STREQUAL "wide")
    set(sample --sample)
  endif()
  quarksmith_generate(error --profile "${profile}" --devices "${devices}" --out "${out}"
                      --tuned "${CMAKE_BINARY_DIR}/tuned" ${sample})
  if(error)
    message(FATAL_ERROR "QUARKSMITH_DEVICES=${devices}: ${error}")
  endif()
endfunction()
