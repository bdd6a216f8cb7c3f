# The extension discretegauss._native: cffi in API mode, out of line, stable ABI of Python 3.11.

# tools/wheels sets it to another system's Python if the extension is for that system.
set(DG_PYTHON_INCLUDE "" CACHE PATH "Where that Python's Python.h is; empty: this Python's")
set(DG_PYTHON_LIBRARY "" CACHE FILEPATH "Windows: that Python's python3.lib")
if(DG_PYTHON_INCLUDE)
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
  add_library(dg_python INTERFACE)
  target_include_directories(dg_python SYSTEM INTERFACE "${DG_PYTHON_INCLUDE}")
  if(DG_PYTHON_LIBRARY)
    target_link_libraries(dg_python INTERFACE "${DG_PYTHON_LIBRARY}")
  elseif(APPLE)
    target_link_options(dg_python INTERFACE -Wl,-undefined,dynamic_lookup)
  endif()
elseif(WIN32) # linked to python3.dll, which is every version's
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.SABIModule)
  add_library(dg_python ALIAS Python::SABIModule)
else()
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
  add_library(dg_python ALIAS Python::Module)
endif()
if(DEFINED SKBUILD AND NOT SKBUILD_SABI_VERSION)
  message(FATAL_ERROR "discretegauss needs a CPython with the stable ABI, that is one with the "
    "interpreter lock: free-threaded builds and PyPy are not supported.")
endif()

# One definition of the C API: the declarations are cut out of the headers (build_native.py).
set(DG_NATIVE_C "${CMAKE_CURRENT_BINARY_DIR}/_native.c")
add_custom_command(
  OUTPUT "${DG_NATIVE_C}"
  COMMAND Python::Interpreter -m cffi.gen_src exec-python
    "${CMAKE_CURRENT_SOURCE_DIR}/cmake/build_native.py" "${DG_NATIVE_C}"
  DEPENDS cmake/build_native.py csrc/python/bit_generator.h csrc/python/calls.h
    csrc/include/discretegauss.h csrc/include/discretegauss_mechanisms.h csrc/include/discretegauss_parts.h
  COMMENT "Generating _native.c from the headers"
  VERBATIM)

add_library(_native MODULE "${DG_NATIVE_C}")
target_compile_definitions(_native PRIVATE Py_LIMITED_API=0x030B0000)
target_include_directories(_native PRIVATE csrc)
target_link_libraries(_native PRIVATE dg_python dg_core dg_hardening)
# The extension exports only its PyInit function. A list says so, because not every linker has --exclude-libs.
# On macOS and Windows -fvisibility=hidden and __declspec(dllexport) do this.
if(NOT APPLE AND NOT WIN32)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/exports" "{ global: PyInit__native; local: *; };\n")
  target_link_options(_native PRIVATE "-Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/exports")
endif()
set_target_properties(_native PROPERTIES PREFIX "" SUFFIX ".abi3.so")
if(WIN32)
  target_compile_definitions(_native PRIVATE MS_WIN64) # Python.h tells it from Microsoft's compiler alone
  set_target_properties(_native PROPERTIES SUFFIX ".pyd")
elseif(DG_BUNDLED_LIBRARIES)
  set_target_properties(_native PROPERTIES INSTALL_RPATH "$ORIGIN")
else()
  # Nothing for /usr/lib; the directory of a GMP that lies elsewhere.
  set_target_properties(_native PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()

install(TARGETS _native LIBRARY DESTINATION discretegauss)
install(FILES ${DG_BUNDLED_LIBRARIES} csrc/cuda/noise.cu csrc/cuda/noise_law.h DESTINATION discretegauss)
if(DEFINED SKBUILD)
  include(cmake/Sbom.cmake)
endif()
