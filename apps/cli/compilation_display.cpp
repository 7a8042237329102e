#include "apps/cli/compilation_display.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>

#include "opencl/compilation.hpp"

namespace sightline::apps {

void show_compilations() {
  if (isatty(STDERR_FILENO) == 0 || !spdlog::should_log(spdlog::level::info)) return;
  opencl::set_compilation_display([](double seconds) {
    if (seconds < 0) {
      std::fputs("\r\033[K", stderr);
    } else {
      std::fprintf(stderr, "\r\033[Kcompiling kernels: %.0f s", seconds);
    }
  });
}

}  // namespace sightline::apps
