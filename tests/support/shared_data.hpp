#pragma once
/// Pictures and networks that are not part of the repository; tests are skipped without them.

#include <cstdlib>
#include <filesystem>

namespace sightline::test {

/// ../shared/data, or the folder of $SIGHTLINE_TEST_DATA.
inline std::filesystem::path shared_data() {
  const char* const elsewhere = std::getenv("SIGHTLINE_TEST_DATA");
  return elsewhere ? std::filesystem::path(elsewhere)
                   : std::filesystem::path(SIGHTLINE_SOURCE_DIR) / "../shared/data";
}

}  // namespace sightline::test
