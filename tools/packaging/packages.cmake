# `cpack` makes Debian packages of the program, of the library for other programs, of its header, and of the Python
# package; tools/package builds and checks them.
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

# Names of the packages by installation component.
set(package_of_library libsightline0)
set(package_of_library_development libsightline-dev)
set(package_of_python python3-sightline)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sightline)
set(CPACK_PACKAGE_CONTACT "${SIGHTLINE_MAINTAINER}")
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_SOURCE_DIR}/tools/packaging/check_maintainer.cmake)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "finds objects in video on whatever processors a machine has")
set(CPACK_COMPONENTS_ALL program library library_development python)
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

# The library, its header, and Python. Configurations and models are in the program's package, which is why the library
# recommends it: a program may bring its own models instead.
foreach(component library library_development python)
  string(TOUPPER ${component} name)
  set(CPACK_DEBIAN_${name}_PACKAGE_DEPENDS "")
  if(SIGHTLINE_GZIP)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/packaging/changelog.gz
            DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package_of_${component}} COMPONENT ${component})
  endif()
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/packaging/copyright
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package_of_${component}} COMPONENT ${component})
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${package_of_${component}})
endforeach()
# Their manual, with the folders that it links.
foreach(pair python=python library_development=c)
  string(REGEX MATCH "(.*)=(.*)" pair ${pair})
  set(folder ${CMAKE_INSTALL_DATADIR}/doc/${package_of_${CMAKE_MATCH_1}})
  install(FILES apps/bindings/README.md DESTINATION ${folder} COMPONENT ${CMAKE_MATCH_1})
  install(FILES apps/bindings/${CMAKE_MATCH_2}/reference.md DESTINATION ${folder}/${CMAKE_MATCH_2} COMPONENT ${CMAKE_MATCH_1})
  install(DIRECTORY apps/bindings/${CMAKE_MATCH_2}/examples DESTINATION ${folder}/${CMAKE_MATCH_2}
          COMPONENT ${CMAKE_MATCH_1} PATTERN "__pycache__" EXCLUDE)
endforeach()
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/libsightline0/triggers)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "sightline (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS ${CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS})
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION
"Library of Sightline, which detects objects in video
Sightline detects objects in pictures, video files, cameras and streams in
real time. This library has its detectors, trackers and counters for other
programs, as C functions.")
set(CPACK_DEBIAN_LIBRARY_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_DEVELOPMENT_PACKAGE_DEPENDS "libsightline0 (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_LIBRARY_DEVELOPMENT_DESCRIPTION
"Header of Sightline, which detects objects in video
The header sightline.h, and what compilers, CMake and pkg-config need to
build programs with Sightline's C functions.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.9), python3-numpy, libsightline0 (>= ${PROJECT_VERSION})")
# They compile the package when it is installed, and remove what was compiled with it.
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/python3-sightline/postinst
                                              ${CMAKE_CURRENT_LIST_DIR}/python3-sightline/prerm)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-opencv, python3-pil")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION
"Python package of Sightline, which detects objects in video
Detectors, trackers and counters for pictures and video, with results as
arrays of NumPy. The same boxes on every machine and device.")
include(CPack)
