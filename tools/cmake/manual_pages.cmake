# Lets PROGRAM write all its manual pages into FOLDER and packs them with GZIP. FOLDER/made is written last.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${PROGRAM} manual --list OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
string(STRIP "${names}" names)
string(REPLACE "\n" ";" names "${names}")
foreach(name IN LISTS names)
  string(REPLACE "-" ";" words "${name}")
  list(REMOVE_AT words 0)  # the program itself
  execute_process(COMMAND ${PROGRAM} manual ${words} OUTPUT_FILE ${FOLDER}/${name}.1 COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${GZIP} -9nf ${FOLDER}/${name}.1 COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(TOUCH ${FOLDER}/made)
