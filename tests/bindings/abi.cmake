# Checks with abidiff that a program built with the last release's header runs with this one's library: functions may be
# added, and nothing may change. The library has no debugging information, so its interface is compiled from abi.c, which
# the header and the library must agree with (test_c_api, symbols.cmake).
#   cmake -DABIDIFF=... -DABIDW=... -DCOMPILER=... -DINTERFACE=abi.c -DHEADER=FOLDER -DMAP=libsightline.map
#         -DRELEASED=sightline.abi -DWORK=FOLDER [-DWRITE=ON] -P abi.cmake
# WRITE makes the file of this interface: at a release.
file(STRINGS ${INTERFACE} functions REGEX "^[a-z].*[ *]sl_[a-z_]+\\(.*\\);$")
list(TRANSFORM functions REPLACE ";$" " {}")
list(JOIN functions "\n" functions)
file(MAKE_DIRECTORY ${WORK})
file(WRITE ${WORK}/stub.c "#include <sightline.h>\n${functions}\n")
set(stub ${WORK}/libsightline.so.0)
execute_process(COMMAND ${COMPILER} -std=gnu2x -g -w -shared -fPIC -I${HEADER} ${WORK}/stub.c -Wl,-soname,libsightline.so.0
                        -Wl,--version-script=${MAP} -o ${stub} COMMAND_ERROR_IS_FATAL ANY)
if(WRITE)
  execute_process(COMMAND ${ABIDW} --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed ${stub}
                  OUTPUT_FILE ${RELEASED} COMMAND_ERROR_IS_FATAL ANY)
endif()
execute_process(COMMAND ${ABIDIFF} --no-added-syms ${RELEASED} ${stub} OUTPUT_VARIABLE changes RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "The interface is not that of the last release (abidiff: ${result}):\n${changes}")
endif()
