# Lets PROGRAM write all its manual pages into FOLDER and packs them with GZIP. FOLDER/made is written last.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${PROGRAM} manual --folder ${FOLDER} COMMAND_ERROR_IS_FATAL ANY)
file(GLOB pages ${FOLDER}/*.1)
execute_process(COMMAND ${GZIP} -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
file(TOUCH ${FOLDER}/made)
