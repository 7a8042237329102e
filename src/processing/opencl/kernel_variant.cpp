#include "processing/opencl/kernel_variant.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace sightline {

void check_kernel_variant(const std::string& asked, std::span<const char* const> variants) {
  if (asked.empty() || std::ranges::find(variants, asked) != variants.end()) return;
  throw Error(ExitCode::usage, "there are no '" + asked + "' kernels",
              fmt::format("there are {}", fmt::join(variants, ", ")));
}

}  // namespace sightline
