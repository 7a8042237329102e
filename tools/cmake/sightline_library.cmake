# Functions that define Sightline's libraries.

# What most sources include, parsed once for each optimisation level.
set(SIGHTLINE_COMMON_HEADERS
  <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstdint> <cstring> <filesystem> <fstream> <functional>
  <limits> <map> <memory> <mutex> <optional> <set> <span> <stdexcept> <string> <string_view> <thread> <tuple> <utility>
  <variant> <vector> <fmt/format.h> <oneapi/tbb/blocked_range.h> <oneapi/tbb/enumerable_thread_specific.h>
  <oneapi/tbb/parallel_for.h> <oneapi/tbb/task_arena.h> <spdlog/spdlog.h>)

# Instruction sets of x86 in SIMD sources, by what Highway leaves out: its bits are 0 to 6 for what is above AVX3_DL
# (AVX3_ZEN4, AVX3_SPR, AVX10, whose names older versions do not know), 7 AVX3_DL, 8 AVX3, 9 AVX2, 11 SSE4, 12 SSSE3.
# The baseline is x86-64-v2 (SSSE3, SSE4.2: every processor since 2009). `few` tests the narrowest vectors and the widest
# that this machine has; SIGHTLINE_OMITTED_TARGETS are those that no source is compiled for but RARE ones.
set(SIGHTLINE_OMITTED_TARGETS 0)
set(SIGHTLINE_INSTRUCTION_SETS all CACHE STRING "Instruction sets of SIMD code: 'all', or 'few': SSSE3 and this machine's best")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(SIGHTLINE_X86 ON)
  set(SIGHTLINE_SIMD_VNNI HWY_WANT_AVX3_DL HWY_WANT_SSSE3 HWY_DISABLED_TARGETS=0x7F)
  set(SIGHTLINE_SIMD_COMMON HWY_WANT_SSSE3 HWY_DISABLED_TARGETS=0xFF)
  set(SIGHTLINE_SIMD_RARE HWY_WANT_SSSE3 HWY_DISABLED_TARGETS=0x9FF)
  if(SIGHTLINE_INSTRUCTION_SETS STREQUAL "few")
    include(CheckCXXSourceRuns)
    check_cxx_source_runs("int main() { return !__builtin_cpu_supports(\"avx512vnni\"); }" SIGHTLINE_HAS_VNNI)
    if(SIGHTLINE_HAS_VNNI)
      set(SIGHTLINE_OMITTED_TARGETS 0xB00)  # AVX3, AVX2, SSE4
      set(SIGHTLINE_SIMD_VNNI HWY_WANT_AVX3_DL HWY_WANT_SSSE3 HWY_DISABLED_TARGETS=0xB7F)
      set(SIGHTLINE_SIMD_COMMON HWY_WANT_SSSE3 HWY_DISABLED_TARGETS=0xAFF)
    else()
      set(SIGHTLINE_OMITTED_TARGETS 0x980)  # AVX3_DL, AVX3, SSE4
      set(SIGHTLINE_SIMD_VNNI ${SIGHTLINE_SIMD_RARE})
      set(SIGHTLINE_SIMD_COMMON ${SIGHTLINE_SIMD_RARE})
    endif()
  endif()
endif()

# sightline_library(NAME [INSTALL]): defines the library target sightline_NAME, called sightline::NAME by others. Its
# sources come in parts. INSTALL: other programs can link it once Sightline is installed.
function(sightline_library name)
  cmake_parse_arguments(PARSE_ARGV 1 LIBRARY "INSTALL" "" "")
  set(target sightline_${name})
  add_library(${target})
  add_library(sightline::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/sightline>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  if(LIBRARY_INSTALL)
    install(TARGETS ${target} EXPORT sightline-targets)
  endif()
endfunction()

# sightline_part(LIBRARY PART LEVEL LINK library... SOURCES file... VNNI file... RARE file...): a part of
# sightline_LIBRARY that is compiled at optimisation level -O<LEVEL> in a Release build. `LINK` lists the external
# libraries whose headers it includes; the program links them. Highway compiles each *_simd.cpp for every instruction set
# that SIGHTLINE_SIMD names, and picks one at run time: `VNNI` lists the sources that also use AVX-512's 8-bit dot
# product, `RARE` those that take too little of a run to be compiled for more than SSSE3 and AVX2.
function(sightline_part library part level)
  cmake_parse_arguments(PARSE_ARGV 3 PART "" "" "LINK;SOURCES;VNNI;RARE")
  set(target sightline_${library}_${part})
  add_library(${target} OBJECT ${PART_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE sightline_options sightline_dependencies ${PART_LINK})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O${level}>)
  get_property(first GLOBAL PROPERTY sightline_first_part_at_${level})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${SIGHTLINE_COMMON_HEADERS})
    set_property(GLOBAL PROPERTY sightline_first_part_at_${level} ${target})
  endif()
  if(SIGHTLINE_X86)
    target_compile_options(${target} PRIVATE -march=x86-64-v2)
  endif()
  # Unity builds compile up to 24 sources together: with 8, they take a third longer.
  # One build for the program and for libsightline.so, which exports sl_* alone. Hidden functions are called and inlined
  # in a shared library as in a program.
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP POSITION_INDEPENDENT_CODE ON
                        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  set(together 0)
  foreach(source IN LISTS PART_SOURCES)
    if(IS_ABSOLUTE ${source})
      continue()
    endif()
    if(source MATCHES "_simd\\.cpp$")
      set(instruction_sets COMMON)
      if(source IN_LIST PART_VNNI)
        set(instruction_sets VNNI)
      elseif(source IN_LIST PART_RARE)
        set(instruction_sets RARE)
      endif()
      list(APPEND simd_${instruction_sets} ${source})
      continue()
    endif()
    math(EXPR group "${together} / 24")
    math(EXPR together "${together} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${target}_${group})
  endforeach()
  foreach(instruction_sets COMMON VNNI RARE)
    _sightline_simd_sources(${target} "${SIGHTLINE_SIMD_${instruction_sets}}" ${simd_${instruction_sets}})
  endforeach()
  target_sources(sightline_${library} PRIVATE $<TARGET_OBJECTS:${target}>)
  target_link_libraries(sightline_${library} PRIVATE ${PART_LINK})
endfunction()

# Adds the SIMD sources of a part that are compiled for the same instruction sets. A unity build compiles them as one,
# which takes a third of the time: each source alone reads Highway's headers once for each instruction set. CMake's own
# unity sources would not do, since Highway includes the file that HWY_TARGET_INCLUDE names again and again.
function(_sightline_simd_sources target definitions)
  set(sources ${ARGN})
  if(CMAKE_UNITY_BUILD AND sources)
    list(GET sources 0 name)
    cmake_path(GET name STEM name)
    set(together ${CMAKE_CURRENT_BINARY_DIR}/${target}_${name}.cpp)
    set(begin "#undef HWY_TARGET_INCLUDE\n#define HWY_TARGET_INCLUDE \"${together}\"\n")
    list(TRANSFORM sources REPLACE "(.+)" "#include \"${CMAKE_CURRENT_SOURCE_DIR}/\\1\"\n" OUTPUT_VARIABLE includes)
    list(JOIN includes "" includes)
    file(CONFIGURE OUTPUT ${together} CONTENT "${begin}#include <hwy/foreach_target.h>\n${includes}${begin}" @ONLY)
    set_source_files_properties(${sources} PROPERTIES HEADER_FILE_ONLY ON)
    target_sources(${target} PRIVATE ${together})
    set(sources ${together})
  endif()
  set_source_files_properties(${sources} PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON COMPILE_DEFINITIONS "${definitions}")
endfunction()

# sightline_public_headers(FOLDER header...): installs headers of the current folder, as <sightline/FOLDER/header>. All
# others are internal.
function(sightline_public_headers folder)
  foreach(header IN LISTS ARGN)
    cmake_path(GET header PARENT_PATH parent)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sightline/${folder}/${parent})
  endforeach()
endfunction()
