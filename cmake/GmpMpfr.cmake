# Find GMP and MPFR. This file defines the targets dg::gmp and dg::mpfr, and sets
#   DG_GMP_CHOICE         SYSTEM or WHEEL
#   DG_BUNDLED_LIBRARIES  the shared libraries to install beside the extension (WHEEL only)
#
# WHEEL takes both from the gmpy2 wheel: gmp.h and mpfr.h lie in site-packages/gmpy2/, the libraries
# in site-packages/gmpy2.libs/. The loader finds a copy beside the extension. If gmpy2 was imported before,
# the loader uses its library instead, because the name is the same:
#   Linux    libgmp-a6f47472.so.10.5.0, which is its SONAME, too: by the RPATH, $ORIGIN.
#   macOS    libgmp.10.dylib, by the path @loader_path/libgmp.10.dylib in the extension.
#   Windows  libgmp-10.dll, with gmp.lib to link to: Python looks beside an extension. Two libraries of
#            the compiler that made them, libgcc_s_seh-1.dll and libwinpthread-1.dll, come along.
#
# The gmpy2 is that of the Python that builds. For another system, DG_GMPY2 names the folder of its
# unpacked wheel.
#
# The builder of a Python package chooses SYSTEM or WHEEL (pyproject.toml), never AUTO: its metadata name the
# licences of its content, and are written before CMake searches.
include_guard()

set(DG_GMP AUTO CACHE STRING "GMP and MPFR: AUTO (the system's, else gmpy2's), SYSTEM or WHEEL")
set_property(CACHE DG_GMP PROPERTY STRINGS AUTO SYSTEM WHEEL)
set(DG_GMPY2 "" CACHE PATH "The folder that holds gmpy2/ and gmpy2.libs/; empty: of the Python that builds")
if(NOT DG_GMP MATCHES "^(AUTO|SYSTEM|WHEEL)$")
  message(FATAL_ERROR "DG_GMP must be AUTO, SYSTEM or WHEEL, got \"${DG_GMP}\".")
endif()
if(DEFINED SKBUILD AND (DG_GMP STREQUAL "AUTO" OR NOT DG_GMP STREQUAL DG_GMP_OF_METADATA))
  message(FATAL_ERROR
    "The package's metadata say DG_GMP=${DG_GMP_OF_METADATA}, CMake was told ${DG_GMP}: choose by\n"
    "  pip install . -C discretegauss.gmp=SYSTEM (or WHEEL, the default)\n")
endif()

if(DEFINED SKBUILD AND CMAKE_CROSSCOMPILING AND NOT CMAKE_SYSTEM_NAME STREQUAL DG_SYSTEM_OF_METADATA)
  message(FATAL_ERROR
    "The package's metadata are for \"${DG_SYSTEM_OF_METADATA}\", and CMake builds for ${CMAKE_SYSTEM_NAME}:\n"
    "  -C discretegauss.system=${CMAKE_SYSTEM_NAME}\n")
endif()

# Set <prefix>_{GMP,MPFR}_{INCLUDE,LIBRARY}, which are empty or NOTFOUND if there is none.
macro(dg_look_in_system prefix)
  find_path(${prefix}_GMP_INCLUDE gmp.h)
  find_path(${prefix}_MPFR_INCLUDE mpfr.h)
  find_library(${prefix}_GMP_LIBRARY gmp)
  find_library(${prefix}_MPFR_LIBRARY mpfr)
endmacro()

macro(dg_look_in_wheel prefix)
  if(DG_GMPY2)
    set(${prefix}_DIRECTORY "${DG_GMPY2}/gmpy2")
  else()
    find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
    # find_spec tells where the package lies without loading it.
    execute_process(
      COMMAND "${Python_EXECUTABLE}" -c
        "from importlib.util import find_spec; s = find_spec('gmpy2'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE ${prefix}_DIRECTORY OUTPUT_STRIP_TRAILING_WHITESPACE
      COMMAND_ERROR_IS_FATAL ANY)
    file(TO_CMAKE_PATH "${${prefix}_DIRECTORY}" ${prefix}_DIRECTORY)
  endif()
  foreach(name GMP MPFR)
    string(TOLOWER ${name} lower)
    unset(${prefix}_${name}_INCLUDE)
    unset(${prefix}_${name}_LIBRARY)
    if(EXISTS "${${prefix}_DIRECTORY}/${lower}.h")
      set(${prefix}_${name}_INCLUDE "${${prefix}_DIRECTORY}")
    endif()
    file(GLOB ${prefix}_${name}_LIBRARY
      "${${prefix}_DIRECTORY}.libs/lib${lower}-*.so.*"
      "${${prefix}_DIRECTORY}.libs/lib${lower}.*.dylib"
      "${${prefix}_DIRECTORY}.libs/lib${lower}-*.dll")
  endforeach()
endmacro()

# Find both headers, and exactly one library of each name. Two would mean two versions of gmpy2 in one place.
function(dg_is_complete result prefix)
  set(${result} TRUE PARENT_SCOPE)
  foreach(name GMP MPFR)
    list(LENGTH ${prefix}_${name}_LIBRARY count)
    if(NOT ${prefix}_${name}_INCLUDE OR NOT ${prefix}_${name}_LIBRARY OR NOT count EQUAL 1)
      set(${result} FALSE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# Set result to a text that says which of the four files are missing.
function(dg_missing result prefix)
  set(names "")
  foreach(name GMP MPFR)
    string(TOLOWER ${name} lower)
    if(NOT ${prefix}_${name}_INCLUDE)
      list(APPEND names ${lower}.h)
    endif()
    if(NOT ${prefix}_${name}_LIBRARY)
      list(APPEND names lib${lower})
    endif()
  endforeach()
  list(JOIN names ", " names)
  set(${result} "${names}" PARENT_SCOPE)
endfunction()

unset(DG_GMP_CHOICE)
if(DG_GMP MATCHES "AUTO|SYSTEM")
  dg_look_in_system(DG_SYSTEM)
  dg_is_complete(found DG_SYSTEM)
  if(found)
    set(DG_GMP_CHOICE SYSTEM)
  elseif(DG_GMP STREQUAL "AUTO")
    dg_missing(missing DG_SYSTEM)
    message(WARNING "The system's GMP and MPFR are not used: no ${missing}. Taking gmpy2's.")
  endif()
endif()
if(NOT DG_GMP_CHOICE AND DG_GMP MATCHES "AUTO|WHEEL")
  dg_look_in_wheel(DG_WHEEL)
  dg_is_complete(found DG_WHEEL)
  if(found)
    set(DG_GMP_CHOICE WHEEL)
  endif()
endif()
if(NOT DG_GMP_CHOICE)
  message(FATAL_ERROR # indented lines are printed as they are
    "discretegauss needs GMP and MPFR with their headers; DG_GMP=${DG_GMP} found none. Either\n"
    "  - install the system's:    apt-get install libgmp-dev libmpfr-dev   (Debian, Ubuntu)\n"
    "                             dnf install gmp-devel mpfr-devel         (Fedora)\n"
    "    which serves DG_GMP=SYSTEM and AUTO (pip install . -C discretegauss.gmp=SYSTEM), or\n"
    "  - install the gmpy2 wheel: pip install --only-binary gmpy2 gmpy2\n"
    "    which contains them and serves DG_GMP=WHEEL (pip's default) and AUTO.\n")
endif()

foreach(name GMP MPFR)
  string(TOLOWER ${name} lower)
  # By full path: -lgmp would not find a name with a hash.
  add_library(dg::${lower} UNKNOWN IMPORTED)
  set_target_properties(dg::${lower} PROPERTIES
    IMPORTED_LOCATION "${DG_${DG_GMP_CHOICE}_${name}_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${DG_${DG_GMP_CHOICE}_${name}_INCLUDE}")
endforeach()
set(DG_BUNDLED_LIBRARIES "")
if(DG_GMP_CHOICE STREQUAL "WHEEL")
  set(DG_BUNDLED_LIBRARIES "${DG_WHEEL_GMP_LIBRARY}" "${DG_WHEEL_MPFR_LIBRARY}")
  if(WIN32)
    foreach(lower gmp mpfr)
      set_target_properties(dg::${lower} PROPERTIES
        IMPORTED_LOCATION "${DG_WHEEL_DIRECTORY}.libs/${lower}.lib")
    endforeach()
    file(GLOB DG_OF_THE_COMPILER
      "${DG_WHEEL_DIRECTORY}.libs/libgcc_s_*.dll" "${DG_WHEEL_DIRECTORY}.libs/libwinpthread-*.dll")
    list(APPEND DG_BUNDLED_LIBRARIES ${DG_OF_THE_COMPILER})
  elseif(APPLE)
    # A program notes the path that a library gives itself, here /DLC/... So we link to a copy that gives another
    # path, and install the original with its signature.
    find_program(DG_INSTALL_NAME_TOOL NAMES install_name_tool llvm-install-name-tool
      llvm-install-name-tool-14 REQUIRED)
    foreach(name GMP MPFR)
      string(TOLOWER ${name} lower)
      get_filename_component(file "${DG_WHEEL_${name}_LIBRARY}" NAME)
      set(copy "${CMAKE_CURRENT_BINARY_DIR}/to_link/${file}")
      configure_file("${DG_WHEEL_${name}_LIBRARY}" "${copy}" COPYONLY)
      execute_process(COMMAND "${DG_INSTALL_NAME_TOOL}" -id "@loader_path/${file}" "${copy}"
        ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
      set_target_properties(dg::${lower} PROPERTIES IMPORTED_LOCATION "${copy}")
    endforeach()
  endif()
endif()
message(STATUS "GMP and MPFR (${DG_GMP} -> ${DG_GMP_CHOICE}): "
  "${DG_${DG_GMP_CHOICE}_GMP_LIBRARY} ${DG_${DG_GMP_CHOICE}_MPFR_LIBRARY}")
