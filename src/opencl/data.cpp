#include "opencl/data.hpp"

#include <cctype>
#include <limits>

#include "base/error.hpp"

namespace sightline::opencl {

cl_int checked(std::int64_t offset) {
  if (offset > std::numeric_limits<cl_int>::max()) {
    throw Error(ExitCode::failed, "the frame's pyramid is too large for the OpenCL stages",
                "use a larger --min-size, a larger --scale-step, or --device=none"_message);
  }
  return static_cast<cl_int>(offset);
}

std::string define(const std::string& name, int value) {
  return " -D" + name + "=" + std::to_string(value);
}

std::string define_if(bool is_set, const std::string& name) {
  return is_set ? " -D" + name : "";
}

std::string define_variant(const std::string& name, const std::string& word) {
  std::string option = " -D" + name + "_";
  for (const char c : word) option += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return option;
}

}  // namespace sightline::opencl
