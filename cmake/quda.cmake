# The library of QUDA's names (interface/quda), for programs that call QUDA: in a prefix of its own, where no program finds
# it that was not told to.
file(GLOB quda_sources CONFIGURE_DEPENDS interface/quda/*.cpp)
add_library(quarksmith_quda SHARED ${quda_sources})
set_source_files_properties(interface/quda/refused.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # knows no signatures
set(quda_folder lib/quarksmith-quda)
file(RELATIVE_PATH library_from_quda "/${quda_folder}/lib" "/${CMAKE_INSTALL_LIBDIR}")
set_target_properties(quarksmith_quda PROPERTIES OUTPUT_NAME quda EXPORT_NAME quda UNITY_BUILD ${QUARKSMITH_UNITY}
                      UNITY_BUILD_BATCH_SIZE 0 LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/quda/lib"
                      INSTALL_RPATH "$ORIGIN;$ORIGIN/${library_from_quda}")
target_compile_options(quarksmith_quda PRIVATE -Wall -Wextra -O1)
target_include_directories(quarksmith_quda PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/interface/quda/include>
                           $<INSTALL_INTERFACE:${quda_folder}/include>)
target_link_libraries(quarksmith_quda PRIVATE quarksmith_library)
target_link_options(quarksmith_quda PRIVATE LINKER:--exclude-libs,ALL)  # its names and no others
if(MPI_C_FOUND)
  target_compile_definitions(quarksmith_quda PRIVATE QUARKSMITH_MPI)
  target_link_libraries(quarksmith_quda PRIVATE MPI::MPI_C)
endif()

install(TARGETS quarksmith_quda EXPORT quda LIBRARY DESTINATION ${quda_folder}/lib)
install(DIRECTORY interface/quda/include/ DESTINATION ${quda_folder}/include)
set(package_folder ${quda_folder}/lib/cmake/QUDA)
install(EXPORT quda NAMESPACE QUDA:: FILE QUDAConfig.cmake DESTINATION ${package_folder})
write_basic_package_version_file("${CMAKE_BINARY_DIR}/quda/QUDAConfigVersion.cmake" VERSION 1.1.0
                                 COMPATIBILITY AnyNewerVersion)
install(FILES "${CMAKE_BINARY_DIR}/quda/QUDAConfigVersion.cmake" DESTINATION ${package_folder})
