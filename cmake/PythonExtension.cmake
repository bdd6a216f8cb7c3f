# The extension discretegauss._native: cffi in API mode, out of line, stable ABI of Python 3.11.

find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
if(DEFINED SKBUILD AND NOT SKBUILD_SABI_VERSION)
  message(FATAL_ERROR "discretegauss needs a CPython with the stable ABI, that is one with the "
    "interpreter lock: free-threaded builds and PyPy are not supported.")
endif()

# One definition of the C API: the declarations are cut out of the public header (build_native.py).
set(DG_NATIVE_C "${CMAKE_CURRENT_BINARY_DIR}/_native.c")
add_custom_command(
  OUTPUT "${DG_NATIVE_C}"
  COMMAND Python::Interpreter -m cffi.gen_src exec-python
    "${CMAKE_CURRENT_SOURCE_DIR}/cmake/build_native.py" "${DG_NATIVE_C}"
  DEPENDS cmake/build_native.py cmake/python_calls.h cmake/python_objects.h csrc/include/discretegauss.h
  COMMENT "Generating _native.c from discretegauss.h"
  VERBATIM)

add_library(_native MODULE "${DG_NATIVE_C}")
target_compile_definitions(_native PRIVATE Py_LIMITED_API=0x030B0000)
target_include_directories(_native PRIVATE cmake)
target_link_libraries(_native PRIVATE Python::Module dg_core dg_hardening)
# The extension exports its PyInit function and nothing else.
target_link_options(_native PRIVATE -Wl,--exclude-libs,ALL)
set_target_properties(_native PROPERTIES PREFIX "" SUFFIX ".abi3.so")
if(DG_BUNDLED_LIBRARIES)
  set_target_properties(_native PROPERTIES INSTALL_RPATH "$ORIGIN")
else()
  # Nothing for /usr/lib; the directory of a GMP that lies elsewhere.
  set_target_properties(_native PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()

install(TARGETS _native LIBRARY DESTINATION discretegauss)
install(FILES ${DG_BUNDLED_LIBRARIES} DESTINATION discretegauss)
