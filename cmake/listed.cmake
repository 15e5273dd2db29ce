# The list of all things of a kind (runtime/listed.hpp): each .cpp of a folder defines one of the file's name.

# Writes `out`, which lists those that `files` define, all in folders of one name. Unchanged files are left as they are.
function(quarksmith_list kind header out)
  set(names "")
  foreach(file ${ARGN})
    cmake_path(GET file STEM name)
    list(APPEND names "${name}")
    cmake_path(GET file PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
  endforeach()
  list(SORT names)
  string(REGEX MATCH "^.*::" of_kind "${kind}")
  set(folder "${of_kind}${folder}")
  list(JOIN names ", " declared)
  list(TRANSFORM names PREPEND "&${folder}::")
  list(JOIN names ",\n                                         " listed)
  file(CONFIGURE OUTPUT "${out}" @ONLY CONTENT "// Made by cmake/listed.cmake.
#include \"@header@\"

namespace quarksmith {

namespace @folder@ {
extern const @kind@ @declared@;
}

template <>
std::span<const @kind@* const> listed<@kind@>() {
  static constexpr const @kind@* all[] = {@listed@};
  return all;
}

}  // namespace quarksmith
")
endfunction()

# Appends the list of a folder of the tree to the sources in `variable`.
function(quarksmith_listed variable folder kind header)
  file(GLOB files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${folder}/*.cpp")
  cmake_path(GET folder FILENAME name)
  set(out "${CMAKE_BINARY_DIR}/listed/${name}.cpp")
  quarksmith_list("${kind}" "${header}" "${out}" ${files})
  # By itself, so that a program can have another list in its place.
  set_source_files_properties("${out}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(${variable} ${${variable}} "${out}" PARENT_SCOPE)
endfunction()
