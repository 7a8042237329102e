# Writes a C++ file that holds the text of files, so that the program needs no files beside it: the definition of
#   std::string_view NAMESPACE::FUNCTION(const std::string& name)
# which HEADER declares; it throws std::out_of_range where there is no file of that name.
#   cmake -DFOLDER=... "-DENDINGS=cl clh" -DHEADER=... -DNAMESPACE=... -DFUNCTION=... -DOUTPUT=... -P embed_files.cmake
separate_arguments(ENDINGS)
list(TRANSFORM ENDINGS PREPEND ${FOLDER}/*. OUTPUT_VARIABLE patterns)
file(GLOB_RECURSE files RELATIVE ${FOLDER} ${patterns})
list(SORT files)
set(text "// Made by tools/cmake/embed_files.cmake; do not edit.\n#include \"${HEADER}\"\n\n#include <stdexcept>\n\n")
string(APPEND text "namespace ${NAMESPACE} {\n\nstd::string_view ${FUNCTION}(const std::string& name) {\n")
foreach(name ${files})
  file(READ ${FOLDER}/${name} content)
  string(APPEND text "  if (name == \"${name}\") {\n    return R\"embedded(${content})embedded\";\n  }\n")
endforeach()
string(APPEND text "  throw std::out_of_range(\"no file '\" + name + \"' is embedded\");\n}\n\n}  // namespace ${NAMESPACE}\n")
file(WRITE ${OUTPUT} "${text}")
