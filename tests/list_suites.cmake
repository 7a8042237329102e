# Lists the suites of a GoogleTest program for ctest: one process per suite instead of per test, since loading libraries
# and OpenCL drivers costs more than most tests. Run after the program is linked, with
#   PROGRAM  the test program          NAME     what its tests begin with in ctest
#   OUTPUT   file for ctest to read    REPORTS  folder where each suite leaves its results
#   TIMEOUT  of a suite, in seconds    COST     what ctest starts first: the highest
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
foreach(suite IN LISTS suites)
  if(count_${suite} EQUAL 0)
    continue()
  endif()
  string(REPLACE "/" "-" report "${NAME}.${suite}")
  string(APPEND text
    "add_test([[${NAME}.${suite}]] [[${PROGRAM}]] [[--gtest_filter=${suite}.*]] [[--gtest_output=xml:${REPORTS}/${report}.xml]])\n"
    "set_tests_properties([[${NAME}.${suite}]] PROPERTIES ENVIRONMENT [[${environment}]] TIMEOUT ${TIMEOUT} COST ${COST}) # ${count_${suite}} tests\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
