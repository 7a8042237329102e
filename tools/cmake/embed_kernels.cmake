# sightline_embed_kernels(OUTPUT FOLDER...): a C++ file with all kernels of the folders, which opencl::kernel_source
# finds by their paths in these.
function(sightline_embed_kernels output)
  set(kernels "")
  foreach(folder ${ARGN})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${folder}/*.cl ${folder}/*.clh ${folder}/*.inc)
    list(APPEND kernels ${found})
  endforeach()
  set(embed ${PROJECT_SOURCE_DIR}/tools/cmake/embed_files.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DFOLDERS=${ARGN}" "-DENDINGS=cl clh inc" -DHEADER=opencl/program.hpp
            -DNAMESPACE=sightline::opencl -DFUNCTION=kernel_source -DOUTPUT=${output} -P ${embed}
    DEPENDS ${kernels} ${embed} VERBATIM)
endfunction()
