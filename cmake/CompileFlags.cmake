# dg_flags: the options for our own C code. The generated cffi source takes only the hardening
# (dg_hardening).

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF) # -std=c11, not gnu11

# The user's options (CFLAGS, -DCMAKE_C_FLAGS) come before ours, and later options win. So we leave out each
# hardening that the user's options name.
string(TOUPPER "CMAKE_C_FLAGS_${CMAKE_BUILD_TYPE}" DG_CONFIG_FLAGS)
set(DG_USER_FLAGS "${CMAKE_C_FLAGS} ${${DG_CONFIG_FLAGS}}")

add_library(dg_hardening INTERFACE)
target_compile_options(dg_hardening INTERFACE -fvisibility=hidden)
if(NOT DG_USER_FLAGS MATCHES "-f(no-)?stack-protector")
  target_compile_options(dg_hardening INTERFACE -fstack-protector-strong)
endif()
if(NOT WIN32 AND NOT APPLE # where compilers do so unasked
    AND NOT DG_USER_FLAGS MATCHES "-f(no-)?stack-clash-protection")
  # A fill keeps some 60 KiB on the stack, more than the guard page behind a thread's: each page is
  # touched in turn, so that a stack that is too short ends the process, and never another's memory.
  include(CheckCCompilerFlag)
  check_c_compiler_flag(-fstack-clash-protection DG_HAVE_STACK_CLASH_PROTECTION)
  if(DG_HAVE_STACK_CLASH_PROTECTION)
    target_compile_options(dg_hardening INTERFACE -fstack-clash-protection)
  endif()
endif()
if(NOT WIN32 AND NOT APPLE) # ELF
  target_link_options(dg_hardening INTERFACE -Wl,-z,relro,-z,now)
endif()
if(DG_SANITIZE)
  # A report ends the program, so that no test passes over one. The sanitizers and _FORTIFY_SOURCE
  # wrap the same functions, so they are not used together.
  set(DG_SANITIZE_FLAGS -fsanitize=${DG_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(dg_hardening INTERFACE ${DG_SANITIZE_FLAGS})
  target_link_options(dg_hardening INTERFACE ${DG_SANITIZE_FLAGS})
elseif(NOT DG_USER_FLAGS MATCHES "_FORTIFY_SOURCE")
  # Level 3 where the compiler and the C library have it (gcc 12, clang 9, glibc 2.34).
  include(CheckCSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
  check_c_source_compiles("
    #include <string.h>
    #if __USE_FORTIFY_LEVEL < 3
    #error
    #endif
    int main(void) { return 0; }" DG_HAVE_FORTIFY_3)
  unset(CMAKE_REQUIRED_FLAGS)
  set(DG_FORTIFY_LEVEL 2)
  if(DG_HAVE_FORTIFY_3)
    set(DG_FORTIFY_LEVEL 3)
  endif()
  # Only where the optimiser runs: elsewhere glibc warns. Undefined first: some systems predefine it.
  target_compile_options(dg_hardening INTERFACE
    $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE>
    $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-D_FORTIFY_SOURCE=${DG_FORTIFY_LEVEL}>)
endif()

if(DG_COVERAGE)
  # Atomic: tests draw in several threads.
  target_compile_options(dg_hardening INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(dg_hardening INTERFACE --coverage)
endif()

add_library(dg_flags INTERFACE)
target_link_libraries(dg_flags INTERFACE dg_hardening)
target_compile_options(dg_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes
  -Wmissing-prototypes -Wvla -Wfloat-equal)
if(DG_WERROR)
  target_compile_options(dg_flags INTERFACE -Werror)
endif()
if(DG_CHECKS)
  target_compile_definitions(dg_flags INTERFACE DG_CHECKS=1)
endif()
