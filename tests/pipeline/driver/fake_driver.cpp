// An OpenCL driver without devices, which crashes as soon as it is loaded where $FAKE_DRIVER says "abort".
// Each time that it is loaded, the file $FAKE_DRIVER_LOG grows by a line.

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

struct Loaded {
  Loaded() {
    if (const char* const log = std::getenv("FAKE_DRIVER_LOG")) {
      if (std::FILE* const file = std::fopen(log, "a")) {
        std::fputs("loaded\n", file);
        std::fclose(file);
      }
    }
    const char* const what = std::getenv("FAKE_DRIVER");
    if (what && std::string_view(what) == "abort") std::abort();
  }
};

const Loaded loaded;

}  // namespace
