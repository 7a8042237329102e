# Compiles with ccache if it is installed. Keeps a launcher set by the user, and only configures ccache for precompiled
# headers, whose macros and times it must ignore (https://ccache.dev/manual/4.7.5.html#_precompiled_headers).
find_program(SIGHTLINE_CCACHE ccache)
mark_as_advanced(SIGHTLINE_CCACHE)
if(SIGHTLINE_CCACHE AND (NOT CMAKE_CXX_COMPILER_LAUNCHER OR CMAKE_CXX_COMPILER_LAUNCHER MATCHES "^[^;]*ccache$"))
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${SIGHTLINE_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    add_compile_options(-fpch-preprocess)  # lets ccache see which precompiled header a file was compiled with
  endif()
endif()
