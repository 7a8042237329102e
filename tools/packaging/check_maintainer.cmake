# `cpack` reads this file before it makes anything.
if(CPACK_PACKAGE_CONTACT MATCHES "\\.invalid>")
  message(FATAL_ERROR "The package would name '${CPACK_PACKAGE_CONTACT}', whom nobody can reach, as its maintainer. "
          "Say who answers for it: cmake -DSIGHTLINE_MAINTAINER='NAME <ADDRESS>', or tools/package --maintainer")
endif()
