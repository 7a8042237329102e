# Checks that a shared library exports sl_* alone.
#   cmake -DNM=... -DLIBRARY=... -P symbols.cmake
execute_process(COMMAND ${NM} --dynamic --defined-only --format=posix ${LIBRARY} OUTPUT_VARIABLE symbols
                COMMAND_ERROR_IS_FATAL ANY)
string(STRIP "${symbols}" symbols)
string(REPLACE "\n" ";" symbols "${symbols}")
set(functions 0)
foreach(line IN LISTS symbols)
  if(line MATCHES "^sl_[a-z_]+(@@SIGHTLINE_0)? T ")
    math(EXPR functions "${functions} + 1")
  elseif(NOT line MATCHES "^SIGHTLINE_0(@@SIGHTLINE_0)? A ")
    message(FATAL_ERROR "${LIBRARY} exports '${line}'")
  endif()
endforeach()
if(NOT functions EQUAL 38)
  message(FATAL_ERROR "${LIBRARY} exports ${functions} functions instead of 38: adapt SL_ABI_MINOR and this number")
endif()
