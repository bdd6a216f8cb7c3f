# A bill of materials (PEP 770, CycloneDX) in the package's metadata: which libraries it holds, by their SHA-256.
# A package that links to the system's libraries holds none, and has no such file.
if(NOT DG_BUNDLED_LIBRARIES)
  return()
endif()

# Set result to the value of a macro in a header: a number, or a text in quotes.
function(dg_macro_of result header name)
  file(STRINGS "${header}" line REGEX "^#define[ \t]+${name}[ \t]")
  string(REGEX REPLACE "^#define[ \t]+${name}[ \t]+\"?([^\" \t]+).*" "\\1" value "${line}")
  set(${result} "${value}" PARENT_SCOPE)
endfunction()

set(DG_GMP_VERSION "")
foreach(part __GNU_MP_VERSION __GNU_MP_VERSION_MINOR __GNU_MP_VERSION_PATCHLEVEL)
  dg_macro_of(value "${DG_WHEEL_GMP_INCLUDE}/gmp.h" ${part})
  list(APPEND DG_GMP_VERSION ${value})
endforeach()
list(JOIN DG_GMP_VERSION "." DG_GMP_VERSION)
dg_macro_of(DG_MPFR_VERSION "${DG_WHEEL_MPFR_INCLUDE}/mpfr.h" MPFR_VERSION_STRING)

set(DG_COMPONENTS "")
foreach(library IN LISTS DG_BUNDLED_LIBRARIES)
  get_filename_component(file "${library}" NAME)
  file(SHA256 "${library}" digest)
  if(file MATCHES "gmp")
    set(known "\"name\": \"gmp\", \"version\": \"${DG_GMP_VERSION}\", \"purl\": \"pkg:generic/gmp@${DG_GMP_VERSION}\"")
  elseif(file MATCHES "mpfr")
    set(known "\"name\": \"mpfr\", \"version\": \"${DG_MPFR_VERSION}\", \"purl\": \"pkg:generic/mpfr@${DG_MPFR_VERSION}\"")
  else() # of the compiler; its wheel does not tell their versions
    set(known "\"name\": \"${file}\"")
  endif()
  list(APPEND DG_COMPONENTS "    {\"type\": \"library\", ${known},
     \"description\": \"${file}, an unmodified copy out of the gmpy2 wheel\",
     \"hashes\": [{\"alg\": \"SHA-256\", \"content\": \"${digest}\"}]}")
endforeach()
list(JOIN DG_COMPONENTS ",\n" DG_COMPONENTS)
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/discretegauss.cdx.json" "{
  \"bomFormat\": \"CycloneDX\",
  \"specVersion\": \"1.6\",
  \"version\": 1,
  \"metadata\": {\"component\": {\"type\": \"library\", \"name\": \"discretegauss\", \"version\": \"${PROJECT_VERSION}\",
    \"purl\": \"pkg:pypi/discretegauss@${PROJECT_VERSION}\"}},
  \"components\": [
${DG_COMPONENTS}
  ]
}
")
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/discretegauss.cdx.json" DESTINATION ${SKBUILD_METADATA_DIR}/sboms)
