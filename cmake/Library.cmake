# `cmake --install`: the core as a library for other programs. Both libraries have the same objects:
#   libdiscretegauss.so.0.1 exports the functions of the installed headers and nothing else
#   libdiscretegauss.a      every global symbol begins with dg_
# It also installs these headers, the licence, and files by which pkg-config and CMake find the libraries.
#
# It is off in the Python package, in a test build, and if another project includes this one. It needs the
# system's GMP, because the name of the gmpy2 wheel's library has a hash. Only ELF systems were tried.

set(DG_INSTALL_DEFAULT OFF)
if(PROJECT_IS_TOP_LEVEL AND UNIX AND NOT APPLE AND NOT DG_PYTHON AND DG_GMP_CHOICE STREQUAL "SYSTEM"
   AND NOT (DG_TESTS OR DG_SANITIZE OR DG_COVERAGE OR DG_FUZZ OR DG_CHECKS OR DG_NARROW_BOUNDS))
  set(DG_INSTALL_DEFAULT ON)
endif()
option(DG_INSTALL "Build the shared library, and install it, the static one and discretegauss.h" ${DG_INSTALL_DEFAULT})
if(NOT DG_INSTALL)
  return()
endif()
if(NOT DG_GMP_CHOICE STREQUAL "SYSTEM")
  message(FATAL_ERROR "DG_INSTALL needs the system's GMP and MPFR: -DDG_GMP=SYSTEM.")
endif()

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(dg_shared SHARED $<TARGET_OBJECTS:dg_core>)
target_link_libraries(dg_shared PRIVATE dg::mpfr dg::gmp Threads::Threads dg_hardening)
# Before 1.0 a minor version may change the ABI, so it is part of the name.
set(DG_SOVERSION ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(DG_SOVERSION 0.${PROJECT_VERSION_MINOR})
endif()
# Export the functions that the headers mark with DG_API.
set(DG_HEADERS csrc/include/discretegauss.h csrc/include/discretegauss_mechanisms.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${DG_HEADERS})
set(DG_HEADER "")
foreach(header IN LISTS DG_HEADERS)
  file(READ ${header} text)
  string(APPEND DG_HEADER "${text}")
endforeach()
string(REGEX MATCHALL "DG_API [^(;]*dg_[a-z0-9_]+\\(" DG_EXPORTS "${DG_HEADER}")
list(TRANSFORM DG_EXPORTS REPLACE ".*(dg_[a-z0-9_]+)\\(" "\\1;")
string(REPLACE ";;" "; " DG_EXPORTS "${DG_EXPORTS}")
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/library_exports" "{ global: ${DG_EXPORTS} local: *; };\n")
target_link_options(dg_shared PRIVATE "-Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/library_exports" -Wl,--no-undefined)
set_target_properties(dg_shared PROPERTIES
  OUTPUT_NAME discretegauss VERSION ${PROJECT_VERSION} SOVERSION ${DG_SOVERSION})

install(TARGETS dg_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES $<TARGET_FILE:dg_core> DESTINATION ${CMAKE_INSTALL_LIBDIR} RENAME libdiscretegauss.a)
install(FILES ${DG_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/licenses/discretegauss)

# Both files name the others relative to themselves, so the folder may be moved.
file(RELATIVE_PATH DG_PREFIX_FROM_PC "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/discretegauss.pc.in discretegauss.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/discretegauss.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(DG_PACKAGE_DIRECTORY ${CMAKE_INSTALL_LIBDIR}/cmake/discretegauss)
configure_package_config_file(cmake/discretegaussConfig.cmake.in discretegaussConfig.cmake
  INSTALL_DESTINATION ${DG_PACKAGE_DIRECTORY} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(discretegaussConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/discretegaussConfig.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/discretegaussConfigVersion.cmake" DESTINATION ${DG_PACKAGE_DIRECTORY})
