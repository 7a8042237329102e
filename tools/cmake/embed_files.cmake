# Embeds the text of files in a C++ file: the definition of
# std::string_view NAMESPACE::FUNCTION(const std::string& name) which HEADER declares; it throws std::out_of_range if
# there is no file of that name. If several folders have a file of one name, the first is used. cmake
# "-DFOLDERS=...;..." "-DENDINGS=cl clh" -DHEADER=... -DNAMESPACE=... -DFUNCTION=... -DOUTPUT=... -P embed_files.cmake
separate_arguments(ENDINGS)
set(text "// Made by tools/cmake/embed_files.cmake; do not edit.\n#include \"${HEADER}\"\n\n#include <stdexcept>\n\n")
string(APPEND text "namespace ${NAMESPACE} {\n\nstd::string_view ${FUNCTION}(const std::string& name) {\n")
foreach(folder IN LISTS FOLDERS)
  list(TRANSFORM ENDINGS PREPEND ${folder}/*. OUTPUT_VARIABLE patterns)
  file(GLOB_RECURSE files RELATIVE ${folder} ${patterns})
  list(SORT files)
  foreach(name ${files})
    file(READ ${folder}/${name} content)
    string(APPEND text "  if (name == \"${name}\") {\n    return R\"embedded(${content})embedded\";\n  }\n")
  endforeach()
endforeach()
string(APPEND text "  throw std::out_of_range(\"no file '\" + name + \"' is embedded\");\n}\n\n}  // namespace ${NAMESPACE}\n")
file(WRITE ${OUTPUT} "${text}")
