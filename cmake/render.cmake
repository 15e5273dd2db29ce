# git keeps of generated/ what a person reads. Rows, registries and tables are rendered here, before anything else of
# the build looks for them, and again when the generator has changed; a tarball of `make dist` holds them.

find_program(QUARKSMITH_PYTHON python3 HINTS "${CMAKE_SOURCE_DIR}/.venv/bin" NO_CMAKE_FIND_ROOT_PATH
             DOC "Python with Jinja2, which renders sources")

# Runs `python -m generator generate` with further arguments; `error` is the last line of its complaint, or empty.
function(quarksmith_generate error)
  execute_process(COMMAND "${QUARKSMITH_PYTHON}" -m generator generate ${ARGN} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
                  RESULT_VARIABLE failed ERROR_VARIABLE said OUTPUT_QUIET)
  if(NOT failed)
    set(said "")
  elseif(NOT said MATCHES "[^\n]")
    set(said "${QUARKSMITH_PYTHON}: ${failed}")
  endif()
  string(REGEX REPLACE "^.*\n([^\n]+)\n*$" "\\1" said "${said}")
  set(${error} "${said}" PARENT_SCOPE)
endfunction()

# The default profile in generated/, where something is missing or older than what it is rendered from.
function(quarksmith_render_default)
  set(folder "${CMAKE_SOURCE_DIR}/generated")
  file(GLOB_RECURSE inputs CONFIGURE_DEPENDS generator/*.py generator/profiles/*.toml templates/* generated/tuned/*.json
       "${CMAKE_BINARY_DIR}/tuned/*.json")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inputs})
  set(reason "")
  foreach(input ${inputs})
    if(NOT "${folder}/.rendered" IS_NEWER_THAN "${input}")  # nor of the same time, as in a tarball
      set(reason "${input} is newer than generated/")
    endif()
  endforeach()
  list(TRANSFORM known_targets APPEND "/registry.cpp" OUTPUT_VARIABLE registries)
  foreach(file tables.cpp actions.cpp tuned.cpp ${registries})
    if(NOT EXISTS "${folder}/${file}")
      set(reason "generated/${file} is missing")
    endif()
  endforeach()
  if(NOT reason)
    return()
  endif()
  quarksmith_generate(error --profile default --tuned "${CMAKE_BINARY_DIR}/tuned")
  if(NOT error)
    message(STATUS "Rendered generated/: ${reason}")
  elseif(reason MATCHES "missing" OR error MATCHES "generator: error")
    unset(QUARKSMITH_PYTHON CACHE)  # looked for again after `make setup`
    message(FATAL_ERROR "${reason} and cannot be rendered: ${error}\n"
            "Rendering needs Python 3.11 with jinja2 and numpy: `make setup` installs them, "
            "-DQUARKSMITH_PYTHON=PROGRAM names another one. Without Python, build from the tarball of `make dist`.")
  else()
    message(WARNING "${reason} and cannot be rendered anew (${error}): it is taken as it is")
  endif()
endfunction()
