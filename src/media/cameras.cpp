#include "media/cameras.hpp"

#include <fcntl.h>
#include <linux/videodev2.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>

#include "base/error.hpp"

namespace sightline::media {
namespace {

namespace fs = std::filesystem;

// A driver that never says "no more" would be asked for ever.
constexpr std::uint32_t kMaxEntries = 256;

class SystemDevices final : public VideoDevices {
 public:
  std::vector<std::string> paths() const override {
    std::vector<std::pair<unsigned long, std::string>> found;
    std::error_code error;
    for (fs::directory_iterator entry("/dev", error), end; !error && entry != end; entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (!name.starts_with("video") || name.size() == 5 || name.size() > 14) continue;
      if (!std::all_of(name.begin() + 5, name.end(), [](char c) { return c >= '0' && c <= '9'; })) continue;
      found.emplace_back(std::stoul(name.substr(5)), entry->path().string());
    }
    std::sort(found.begin(), found.end());  // video2 before video10
    std::vector<std::string> result;
    for (auto& [number, path] : found) result.push_back(std::move(path));
    return result;
  }
  int open(const std::string& path) override {
    const int handle = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return handle >= 0 ? handle : -errno;
  }
  int control(int handle, unsigned long request, void* argument) override {
    int result = -1;
    do result = ioctl(handle, request, argument);
    while (result < 0 && errno == EINTR);
    return result >= 0 ? result : -errno;
  }
  void close(int handle) override { ::close(handle); }
};

/// An open device.
class Device {
 public:
  Device(VideoDevices& devices, const std::string& path) : devices_(devices), handle_(devices.open(path)) {}
  ~Device() {
    if (handle_ >= 0) devices_.close(handle_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// 0, or the errno of opening it.
  int problem() const { return handle_ < 0 ? -handle_ : 0; }
  /// 0, or the errno.
  template <typename T>
  int ask(unsigned long request, T& argument) const {
    return std::max(0, -devices_.control(handle_, request, &argument));
  }

 private:
  VideoDevices& devices_;
  int handle_;
};

// Texts of the kernel are arrays that need not end.
template <std::size_t kBytes>
std::string array_text(const std::uint8_t (&bytes)[kBytes]) {
  const auto* const text = reinterpret_cast<const char*>(bytes);
  return {text, strnlen(text, kBytes)};
}

std::string fourcc_text(std::uint32_t code) {
  std::string text;
  for (int i = 0; i < 4; ++i) {
    const auto c = static_cast<char>(code >> (8 * i) & 0x7f);
    text += c >= ' ' && c < 0x7f ? c : '?';
  }
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

/// FFmpeg's name of a pixel format or codec, for those that its V4L2 input can read.
std::string ffmpeg_name(std::uint32_t code) {
  struct Name {
    std::uint32_t code;
    const char* name;
  };
  static constexpr Name names[] = {
      {V4L2_PIX_FMT_MJPEG, "mjpeg"},        {V4L2_PIX_FMT_JPEG, "mjpeg"},
      {V4L2_PIX_FMT_H264, "h264"},          {V4L2_PIX_FMT_MPEG4, "mpeg4"},
      {V4L2_PIX_FMT_CPIA1, "cpia"},         {V4L2_PIX_FMT_YUYV, "yuyv422"},
      {V4L2_PIX_FMT_UYVY, "uyvy422"},       {V4L2_PIX_FMT_YUV420, "yuv420p"},
      {V4L2_PIX_FMT_YVU420, "yuv420p"},     {V4L2_PIX_FMT_YUV422P, "yuv422p"},
      {V4L2_PIX_FMT_YUV411P, "yuv411p"},    {V4L2_PIX_FMT_YUV410, "yuv410p"},
      {V4L2_PIX_FMT_YVU410, "yuv410p"},     {V4L2_PIX_FMT_NV12, "nv12"},
      {V4L2_PIX_FMT_GREY, "gray"},          {V4L2_PIX_FMT_Y16, "gray16le"},
      {V4L2_PIX_FMT_Z16, "gray16le"},       {V4L2_PIX_FMT_RGB24, "rgb24"},
      {V4L2_PIX_FMT_BGR24, "bgr24"},        {V4L2_PIX_FMT_BGR32, "bgr0"},
      {V4L2_PIX_FMT_XBGR32, "bgr0"},        {V4L2_PIX_FMT_RGB32, "0rgb"},
      {V4L2_PIX_FMT_XRGB32, "0rgb"},        {V4L2_PIX_FMT_ABGR32, "bgra"},
      {V4L2_PIX_FMT_ARGB32, "argb"},        {V4L2_PIX_FMT_RGB555, "rgb555le"},
      {V4L2_PIX_FMT_RGB555X, "rgb555be"},   {V4L2_PIX_FMT_RGB565, "rgb565le"},
      {V4L2_PIX_FMT_RGB565X, "rgb565be"},   {V4L2_PIX_FMT_SBGGR8, "bayer_bggr8"},
      {V4L2_PIX_FMT_SGBRG8, "bayer_gbrg8"}, {V4L2_PIX_FMT_SGRBG8, "bayer_grbg8"},
      {V4L2_PIX_FMT_SRGGB8, "bayer_rggb8"},
  };
  for (const Name& name : names)
    if (name.code == code) return name.name;
  return {};
}

/// Frames a second, of the time that a frame takes.
double rate_of(const v4l2_fract& interval) {
  return interval.numerator == 0 ? 0 : static_cast<double>(interval.denominator) / interval.numerator;
}

Size size_of(std::uint32_t width, std::uint32_t height) {
  return {static_cast<int>(width), static_cast<int>(height)};
}

void list_rates(const Device& device, std::uint32_t format, CameraMode& mode) {
  for (std::uint32_t i = 0; i < kMaxEntries; ++i) {
    v4l2_frmivalenum entry{};
    entry.index = i;
    entry.pixel_format = format;
    entry.width = static_cast<std::uint32_t>(mode.most.width);
    entry.height = static_cast<std::uint32_t>(mode.most.height);
    if (device.ask(VIDIOC_ENUM_FRAMEINTERVALS, entry) != 0) break;
    if (entry.type != V4L2_FRMIVAL_TYPE_DISCRETE) {
      mode.highest_rate = rate_of(entry.stepwise.min);  // the shortest time
      mode.lowest_rate = rate_of(entry.stepwise.max);
      break;
    }
    if (const double rate = rate_of(entry.discrete); rate > 0) mode.frame_rates.push_back(rate);
  }
  std::sort(mode.frame_rates.begin(), mode.frame_rates.end(), std::greater<>());
}

std::vector<CameraMode> list_modes(const Device& device, std::uint32_t format) {
  std::vector<CameraMode> modes;
  for (std::uint32_t i = 0; i < kMaxEntries; ++i) {
    v4l2_frmsizeenum entry{};
    entry.index = i;
    entry.pixel_format = format;
    if (device.ask(VIDIOC_ENUM_FRAMESIZES, entry) != 0) break;
    CameraMode& mode = modes.emplace_back();
    const bool one = entry.type == V4L2_FRMSIZE_TYPE_DISCRETE;
    if (one) {
      mode.least = mode.most = size_of(entry.discrete.width, entry.discrete.height);
    } else {
      mode.least = size_of(entry.stepwise.min_width, entry.stepwise.min_height);
      mode.most = size_of(entry.stepwise.max_width, entry.stepwise.max_height);
      mode.step = size_of(entry.stepwise.step_width, entry.stepwise.step_height);
    }
    list_rates(device, format, mode);
    if (!one) break;  // a range is the only entry
  }
  return modes;
}

std::vector<CameraFormat> list_formats(const Device& device) {
  std::vector<CameraFormat> formats;
  for (std::uint32_t i = 0; i < kMaxEntries; ++i) {
    v4l2_fmtdesc entry{};
    entry.index = i;
    entry.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    if (device.ask(VIDIOC_ENUM_FMT, entry) != 0) break;
    CameraFormat& format = formats.emplace_back();
    format.name = ffmpeg_name(entry.pixelformat);
    format.fourcc = fourcc_text(entry.pixelformat);
    format.description = array_text(entry.description);
    format.compressed = (entry.flags & V4L2_FMT_FLAG_COMPRESSED) != 0;
    format.modes = list_modes(device, entry.pixelformat);
  }
  return formats;
}

std::string opening_problem(int code) {
  const std::string reason = std::string("cannot be opened (") + std::strerror(code) + ")";
  if (code == EACCES || code == EPERM)
    return reason + ": join the group video: sudo usermod -aG video $USER, then log in again";
  if (code == EBUSY) return reason + ": another program is using it";
  return reason;
}

/// No value if it is no camera.
std::optional<Camera> look_at(VideoDevices& devices, const std::string& path) {
  Camera camera;
  camera.path = path;
  const Device device(devices, path);
  if (device.problem() == ENODEV || device.problem() == ENXIO || device.problem() == ENOENT)
    return std::nullopt;  // no device, or unplugged
  if (device.problem() != 0) {
    camera.problem = opening_problem(device.problem());
    return camera;
  }
  v4l2_capability facts{};
  if (device.ask(VIDIOC_QUERYCAP, facts) != 0) return std::nullopt;
  // `capabilities` are those of all nodes together, `device_caps` this one's.
  const std::uint32_t can =
      facts.capabilities & V4L2_CAP_DEVICE_CAPS ? facts.device_caps : facts.capabilities;
  const bool captures = can & V4L2_CAP_VIDEO_CAPTURE;
  if (!captures && !(can & V4L2_CAP_VIDEO_CAPTURE_MPLANE)) return std::nullopt;
  camera.name = array_text(facts.card);
  camera.driver = array_text(facts.driver);
  camera.bus = array_text(facts.bus_info);
  if (!captures) {
    camera.problem = "delivers separate planes (multi-planar V4L2), which FFmpeg cannot read";
    return camera;
  }
  if (!(can & V4L2_CAP_STREAMING)) camera.problem = "cannot stream, which FFmpeg needs";
  camera.formats = list_formats(device);
  return camera;
}

}  // namespace

std::vector<Camera> list_cameras(VideoDevices& devices) {
  std::vector<Camera> cameras;
  for (const std::string& path : devices.paths())
    if (std::optional<Camera> camera = look_at(devices, path)) cameras.push_back(std::move(*camera));
  return cameras;
}

std::vector<Camera> list_cameras() {
  SystemDevices devices;
  return list_cameras(devices);
}

Camera first_camera(VideoDevices& devices) {
  std::string problems;
  for (const Camera& camera : list_cameras(devices)) {
    if (camera.problem.empty()) return camera;
    problems += (problems.empty() ? "" : "; ") + camera.path + " " + camera.problem;
  }
  if (problems.empty()) throw Error(ExitCode::input, "there is no camera", no_camera_advice());
  throw Error(ExitCode::input, "no camera can be used: " + problems);
}

Camera first_camera() {
  SystemDevices devices;
  return first_camera(devices);
}

std::string no_camera_advice() {
  return "plug one in (for example /dev/video0; give it to a container with docker run --device "
         "/dev/video0), or name another input: a URL (rtsp://...), a file, or screen: for this screen";
}

}  // namespace sightline::media
