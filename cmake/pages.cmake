# Installs what the command writes about itself. Set before: command, pages (a folder of the build), datadir, mandir.
foreach(page "man|${mandir}/man1/quarksmith.1"
        "completion bash|${datadir}/bash-completion/completions/quarksmith"
        "completion zsh|${datadir}/zsh/site-functions/_quarksmith"
        "completion fish|${datadir}/fish/vendor_completions.d/quarksmith.fish")
  string(REGEX MATCH "^(.*)[|](.*)$" matched "${page}")
  set(file "${CMAKE_MATCH_2}")
  string(REPLACE " " ";" arguments "${CMAKE_MATCH_1}")
  cmake_path(GET file PARENT_PATH folder)
  cmake_path(GET file FILENAME name)
  file(MAKE_DIRECTORY "${pages}/${folder}")
  execute_process(COMMAND "${command}" ${arguments} OUTPUT_FILE "${pages}/${file}" RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    message(STATUS "${file} is left out: ${command} does not run here")
  else()
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE target)
    file(INSTALL DESTINATION "${target}" TYPE FILE FILES "${pages}/${file}")
  endif()
endforeach()
