#include "opencl/data.hpp"

#include <limits>

#include "base/error.hpp"

namespace sightline::opencl {

cl_int checked(std::int64_t offset) {
  if (offset > std::numeric_limits<cl_int>::max()) {
    throw Error(ExitCode::failed, "the frame's pyramid is too large for the OpenCL stages",
                "use a larger --min-size, a larger --scale-step, or --device none");
  }
  return static_cast<cl_int>(offset);
}

std::string define(const std::string& name, int value) {
  return " -D" + name + "=" + std::to_string(value);
}

}  // namespace sightline::opencl
