#include "base/input_file.hpp"

#include <string>
#include <system_error>

namespace sightline {

void refuse_special_file(const std::filesystem::path& file, ExitCode code) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(file, ignored);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status) ||
      std::filesystem::is_directory(status))
    return;
  const std::string name = file.lexically_normal().string();
  const bool is_of_system = name.starts_with("/dev/") || name.starts_with("/proc/");
  if (std::filesystem::is_fifo(status) && is_of_system) return;
  throw Error(code, "'" + file.string() + "' is no regular file", "give a file");
}

}  // namespace sightline
