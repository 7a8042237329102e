#include "apps/cli/compilation_display.hpp"

#include <spdlog/spdlog.h>

#include "apps/cli/status_line.hpp"
#include "opencl/compilation.hpp"

namespace sightline::apps {

void show_compilations() {
  static StatusLine line;
  if (!line.is_terminal() || !spdlog::should_log(spdlog::level::info)) return;
  opencl::set_compilation_display([](double seconds) {
    if (seconds < 0) {
      line.erase();
    } else {
      line.show(fmt::format("compiling kernels: {:.0f} s", seconds));
    }
  });
}

}  // namespace sightline::apps
