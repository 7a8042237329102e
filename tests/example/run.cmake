# Installs Sightline into a folder, builds the example against it and runs that on a picture.
#   cmake -DBUILD=... -DSOURCE=... -DWORK=... -DCONFIG=... -DPICTURE=... -P run.cmake
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
step(${CMAKE_COMMAND} --install ${BUILD} --component development --prefix ${WORK}/installed)
step(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/installed -DCMAKE_BUILD_TYPE=Release)
step(${CMAKE_COMMAND} --build ${WORK}/build)
step(${WORK}/build/example ${CONFIG} ${PICTURE})
if(NOT output MATCHES "1 [0-9-]+ [0-9-]+ [0-9]+ [0-9]+")
  message(FATAL_ERROR "the example finds nobody:\n${output}")
endif()
