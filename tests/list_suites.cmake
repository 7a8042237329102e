# Lists the suites of a GoogleTest program for ctest: one process for each suite or GROUP of suites instead of for each
# test, since loading libraries and OpenCL drivers costs more than most tests. Run after the program is linked, with
#   PROGRAM  the test program          NAME     what its tests begin with in ctest
#   OUTPUT   file for ctest to read    REPORTS  folder where each suite leaves its results
#   TIMEOUT  of a process, in seconds  COST     what ctest starts first: the highest
#   GROUP    suites of a process; ctest calls them by the first one
#   POCL     PoCL's cache, which all tests share, as a user's programs do: with one for each cache folder of
#            Sightline's, PoCL would compile the same kernels many times
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE ";" "," listing "${listing}")
string(REPLACE "\n" ";" lines "${listing}")
set(suites "")
foreach(line IN LISTS lines)
  if(line MATCHES "^([^ #]+)\\.( *#.*)?$")
    set(suite "${CMAKE_MATCH_1}")
    list(APPEND suites "${suite}")
    set(count_${suite} 0)
  elseif(line MATCHES "^  [^ ]" AND NOT line MATCHES "^  DISABLED_")
    math(EXPR count_${suite} "${count_${suite}} + 1")
  endif()
endforeach()
if(NOT suites)
  message(FATAL_ERROR "${PROGRAM} has no tests")
endif()
# PoCL runs `ld` for each kernel; mold's takes a third of the time.
set(environment "POCL_CACHE_DIR=${POCL};PATH=/usr/libexec/mold:$ENV{PATH}")
# Tests compile kernels for longer than they run them: kernels' tests without optimisation, others once instead of for
# each size of work-group. `tools/test --thorough` does neither.
if(NOT "$ENV{SIGHTLINE_THOROUGH}")
  if(NAME STREQUAL "kernels")
    string(APPEND environment ";POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable")
  else()
    string(APPEND environment ";POCL_WORK_GROUP_SPECIALIZATION=0")
  endif()
endif()
set(text "")
# Adds the suites of `group` as one test, and empties it.
macro(add_group)
  list(LENGTH group size)
  math(EXPR others "${size} - 1")
  list(GET group 0 name)
  string(PREPEND name "${NAME}.")
  if(others)
    string(APPEND name "+${others}")
  endif()
  list(TRANSFORM group APPEND ".*" OUTPUT_VARIABLE filter)
  list(JOIN filter ":" filter)
  string(REPLACE "/" "-" report "${name}")
  string(APPEND text
    "add_test([[${name}]] [[${PROGRAM}]] [[--gtest_filter=${filter}]] [[--gtest_output=xml:${REPORTS}/${report}.xml]])\n"
    "set_tests_properties([[${name}]] PROPERTIES ENVIRONMENT [[${environment}]] TIMEOUT ${TIMEOUT} COST ${COST}) # ${count} tests\n")
  set(group "")
  set(count 0)
endmacro()
set(group "")
set(count 0)
foreach(suite IN LISTS suites)
  if(count_${suite} EQUAL 0)
    continue()
  endif()
  list(APPEND group "${suite}")
  math(EXPR count "${count} + ${count_${suite}}")
  list(LENGTH group size)
  if(size EQUAL GROUP)
    add_group()
  endif()
endforeach()
if(group)
  add_group()
endif()
file(WRITE "${OUTPUT}" "${text}")
