# The Python package: `quarksmith_module` puts it into BUILD/python/quarksmith. Its module is made of python/*.cpp and the
# library. Where nanobind or the headers of Python are not there, that target says so.

option(QUARKSMITH_PYTHON_MODULE "Build the Python package, if nanobind is found" ON)

set(python_lacks "QUARKSMITH_PYTHON_MODULE is OFF")
if(QUARKSMITH_PYTHON_MODULE)
  foreach(candidate "${Python_EXECUTABLE}" "${QUARKSMITH_PYTHON}")  # that of pip, which has its own nanobind; ours
    execute_process(COMMAND "${candidate}" -c "import nanobind, nanobind_backend; print(nanobind.cmake_dir())"
                    RESULT_VARIABLE failed OUTPUT_VARIABLE nanobind_folder ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(python_lacks "nanobind is missing: `pip install nanobind nanobind-backend` into .venv")
    if(NOT failed)
      set(Python_EXECUTABLE "${candidate}" CACHE FILEPATH "Python of the package" FORCE)
      find_package(Python 3.11 QUIET COMPONENTS Interpreter Development.Module)
      set(python_lacks "the headers of Python are missing: install python3-dev")
      if(Python_FOUND)
        unset(nanobind_DIR CACHE)
        find_package(nanobind 3.1 QUIET CONFIG PATHS "${nanobind_folder}" NO_DEFAULT_PATH)
        set(python_lacks "nanobind in ${nanobind_folder} is older than 3.1")
      endif()
      if(nanobind_FOUND)
        set(python_lacks "")
      endif()
      break()
    endif()
  endforeach()
endif()
if(python_lacks)
  message(STATUS "Python package: not built; ${python_lacks}")
  add_custom_target(quarksmith_module COMMAND "${CMAKE_COMMAND}" -E echo "No Python package: ${python_lacks}"
                    COMMAND "${CMAKE_COMMAND}" -E false VERBATIM)
  return()
endif()

set(package "${CMAKE_BINARY_DIR}/python/quarksmith")
file(GLOB module_sources CONFIGURE_DEPENDS python/*.cpp)
# One module for all Pythons from 3.11 on.
nanobind_add_module(quarksmith_module BACKEND_MODULE nanobind_backend STABLE_ABI_VERSION 3.11 ${module_sources})
set_target_properties(quarksmith_module PROPERTIES OUTPUT_NAME _quarksmith LIBRARY_OUTPUT_DIRECTORY "${package}"
                      UNITY_BUILD ON)
if(NOT QUARKSMITH_TESTS)
  set_target_properties(quarksmith_module PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
target_compile_features(quarksmith_module PRIVATE cxx_std_20)
# What it links statically, a C++ library among it on some systems, is not to be mixed with what other modules bring.
target_link_options(quarksmith_module PRIVATE LINKER:--exclude-libs,ALL)
target_compile_options(quarksmith_module PRIVATE -Wall -Wextra)
target_compile_definitions(quarksmith_module PRIVATE QUARKSMITH_VERSION="${PROJECT_VERSION}"
                           QUARKSMITH_BUILD_FOLDER="${CMAKE_BINARY_DIR}")
target_link_libraries(quarksmith_module PRIVATE quarksmith_library ${fmt_library}
                      nlohmann_json::nlohmann_json)

file(GLOB python_files CONFIGURE_DEPENDS python/quarksmith/*.py)
foreach(file ${python_files})
  cmake_path(GET file FILENAME name)
  file(MAKE_DIRECTORY "${package}")
  file(CREATE_LINK "${file}" "${package}/${name}" SYMBOLIC)
endforeach()
# The generator in the package is that of the tree; templates, headers and tuned results are beside it.
file(CREATE_LINK "${CMAKE_SOURCE_DIR}/generator" "${package}/generator" SYMBOLIC)
# Types of what the module holds and of all commands, from what they say themselves.
add_custom_command(TARGET quarksmith_module POST_BUILD
                   COMMAND "${Python_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/python/stubs.py" "${package}" VERBATIM)
