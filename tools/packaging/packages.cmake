# `cpack` makes a Debian package of the program; tools/package builds and checks it.
set(SIGHTLINE_MAINTAINER "Sightline developers <developers@sightline.invalid>" CACHE STRING
    "Maintainer of the packages (cpack refuses the default, which has no valid address)")

# Changelog and copyright file for Debian, dated by SOURCE_DATE_EPOCH if set, for reproducible packages.
string(TIMESTAMP package_year "%Y" UTC)
string(TIMESTAMP package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(tools/packaging/changelog.in packaging/changelog @ONLY)
configure_file(tools/packaging/copyright.in packaging/copyright @ONLY)
if(SIGHTLINE_GZIP)
  add_custom_command(OUTPUT packaging/changelog.gz
    COMMAND ${SIGHTLINE_GZIP} -9nkf ${CMAKE_CURRENT_BINARY_DIR}/packaging/changelog
    DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/packaging/changelog VERBATIM)
  add_custom_target(package_changelog ALL DEPENDS packaging/changelog.gz)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/packaging/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR}
          COMPONENT program)
endif()
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/packaging/copyright README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT program)
install(FILES apps/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME MANUAL.md COMPONENT program)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sightline)
set(CPACK_PACKAGE_CONTACT "${SIGHTLINE_MAINTAINER}")
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_SOURCE_DIR}/tools/packaging/check_maintainer.cmake)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "finds objects in video on whatever processors a machine has")
set(CPACK_COMPONENTS_ALL program)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME sightline)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION video)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
"Sightline detects objects in video files, pictures, cameras, screens and
streams in real time: people with a model of its own, faces and much else
with OpenCV's cascades. It runs on CPU cores with SIMD instructions and on
any OpenCL device, and finds the same boxes on each; a schedule says which
stage of the detector runs where. It draws what it finds, writes it as JSON,
CSV, MOTChallenge or COCO, tracks objects over frames, trains models, and
measures how fast and how good a detector is.")
# Font of the text over pictures. dpkg-shlibdeps finds the linked libraries.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS fonts-dejavu-core)
# Cascades for faces; and the library for cameras, screens and test pictures, which is loaded on demand.
set(recommended opencv-data)
if(SIGHTLINE_CAPTURE)
  string(REGEX MATCH "^[0-9]+" avdevice_major "${AVDEVICE_VERSION}")
  list(APPEND recommended libavdevice${avdevice_major})
endif()
string(JOIN ", " CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS ${recommended})
# Only suggested: a GPU's driver is useful only with that GPU, and PoCL (OpenCL on the CPU) is slower than the program's
# own CPU code.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "opencl-icd, pocl-opencl-icd")
include(CPack)
