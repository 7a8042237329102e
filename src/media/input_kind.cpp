#include "media/input_kind.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <filesystem>

#include "media/reader.hpp"

namespace sightline::media {
namespace {

constexpr std::string_view kCamera = "/dev/video";

// By device number, since udev gives cameras other names too (/dev/v4l/by-id/...).
bool is_video_device(const std::string& path) {
  constexpr unsigned video4linux = 81;
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && S_ISCHR(facts.st_mode) && major(facts.st_rdev) == video4linux;
}

bool is_network_url(const std::string& input) {
  const std::size_t end = input.find("://");
  if (end == std::string::npos || end == 0) return false;
  const std::string scheme = input.substr(0, end);
  const bool is_name = std::all_of(scheme.begin(), scheme.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
  return is_name && scheme != "file" && scheme != "pipe" && scheme != "fd";
}

}  // namespace

InputKind kind_of(const std::string& input) {
  if (input == "-") return InputKind::standard_input;
  if (is_video_device(input)) return InputKind::camera;
  std::error_code ignored;
  if (std::filesystem::exists(input, ignored)) return InputKind::file;
  if (input.starts_with(kGenerator)) return InputKind::generator;
  if (input.starts_with(kScreen)) return InputKind::screen;
  if (input.starts_with(kCamera)) return InputKind::camera;  // not plugged in
  return is_network_url(input) ? InputKind::network : InputKind::file;
}

std::string without_file_scheme(const std::string& name) {
  for (const std::string_view scheme : {"file://", "file:"})
    if (name.starts_with(scheme)) return name.substr(scheme.size());
  return name;
}

bool is_live(const std::string& input) {
  const InputKind kind = kind_of(input);
  return kind == InputKind::camera || kind == InputKind::screen || kind == InputKind::network;
}

bool is_regular_file(const std::string& input) {
  std::error_code error;
  return input != "-" && std::filesystem::is_regular_file(input, error);
}

}  // namespace sightline::media
