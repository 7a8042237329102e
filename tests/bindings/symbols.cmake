# Checks that a shared library exports the functions of an interface, and nothing else.
#   cmake -DNM=... -DLIBRARY=... -DINTERFACE=abi.c -P symbols.cmake
execute_process(COMMAND ${NM} --dynamic --defined-only --format=posix ${LIBRARY} OUTPUT_VARIABLE symbols
                COMMAND_ERROR_IS_FATAL ANY)
string(STRIP "${symbols}" symbols)
string(REPLACE "\n" ";" symbols "${symbols}")
set(exported "")
foreach(line IN LISTS symbols)
  if(line MATCHES "^(sl_[a-z_]+)(@@SIGHTLINE_0)? T ")
    list(APPEND exported ${CMAKE_MATCH_1})
  elseif(NOT line MATCHES "^SIGHTLINE_0(@@SIGHTLINE_0)? A ")
    message(FATAL_ERROR "${LIBRARY} exports '${line}'")
  endif()
endforeach()
file(STRINGS ${INTERFACE} declared REGEX "^[a-z].*[ *]sl_[a-z_]+\\(")
list(TRANSFORM declared REPLACE "^[^(]*[ *](sl_[a-z_]+)\\(.*" "\\1")
list(SORT exported)
list(SORT declared)
if(NOT exported STREQUAL declared)
  message(FATAL_ERROR "${LIBRARY} exports ${exported}\n${INTERFACE} declares ${declared}\n"
                      "Raise SL_ABI_MINOR and add new functions there; none may go")
endif()
