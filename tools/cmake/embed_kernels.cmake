# Writes a C++ file that holds the text of all kernels, so that the program needs no files beside it.
#   cmake -DKERNELS_DIR=... -DOUTPUT=... -P embed_kernels.cmake
file(GLOB_RECURSE kernels RELATIVE ${KERNELS_DIR} ${KERNELS_DIR}/*.cl ${KERNELS_DIR}/*.clh)
list(SORT kernels)
set(text "// Made from the files under kernels/; do not edit.\n#include \"opencl/program.hpp\"\n\n#include <stdexcept>\n\n")
string(APPEND text "namespace sightline::opencl {\n\nstd::string_view kernel_source(const std::string& name) {\n")
foreach(kernel ${kernels})
  file(READ ${KERNELS_DIR}/${kernel} source)
  string(APPEND text "  if (name == \"${kernel}\") {\n    return R\"kernel(${source})kernel\";\n  }\n")
endforeach()
string(APPEND text "  throw std::out_of_range(\"there is no kernel source '\" + name + \"'\");\n}\n\n}  // namespace sightline::opencl\n")
file(WRITE ${OUTPUT} "${text}")
