#include "media/hardware_device.hpp"

extern "C" {
#include <libavutil/hwcontext.h>
}

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

#include "base/log.hpp"
#include "media/video_decoder.hpp"

namespace sightline::media {
namespace {

constexpr const char* kNvidiaVersion = "/proc/driver/nvidia/version";

struct DecodingDevice {
  std::mutex opening;
  AVBufferRef* context = nullptr;  // guarded by `opening`
  std::string problem;             // guarded by `opening`
  std::atomic<bool> is_stale{false};
  std::atomic<bool> is_lost{false};
  std::atomic<bool> is_reported{false};
};

/// Never freed: threads that hang in a driver may still use it when the process ends.
DecodingDevice& device_of(const DecoderChoice& choice) {
  static std::mutex mutex;
  static auto* const devices = new std::map<std::string, DecodingDevice>;
  const std::lock_guard lock(mutex);
  return (*devices)[choice.name()];
}

std::string problem_of_opening(const DecoderChoice& choice, int code) {
  const bool is_cuda = choice.kind == DecoderChoice::Kind::cuda;
  std::string reason = error_text(code);
  if (is_cuda && code == -1) reason = "libcuda.so.1 cannot be loaded";  // which is no error of FFmpeg's
  if (!is_cuda && access(choice.device.c_str(), R_OK | W_OK) != 0) reason = std::strerror(errno);
  return "cannot open " + choice.name() + " (" + reason + "); " +
         (is_cuda ? "check that nvidia-smi lists the GPU, and in a container set "
                    "NVIDIA_DRIVER_CAPABILITIES=compute,video,utility"
                  : "check with vainfo that its VA driver works, and in a container pass the device on");
}

void open_device(DecodingDevice& device, const DecoderChoice& choice) {
  const bool is_cuda = choice.kind == DecoderChoice::Kind::cuda;
  const auto begin = std::chrono::steady_clock::now();
  const int code =
      av_hwdevice_ctx_create(&device.context, is_cuda ? AV_HWDEVICE_TYPE_CUDA : AV_HWDEVICE_TYPE_VAAPI,
                             choice.device.c_str(), nullptr, 0);
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  device.problem = code < 0 ? problem_of_opening(choice, code) : "";
  if (code >= 0)
    logger().debug("opened {} for decoding in {:.0f} ms; {}", choice.name(), spent.count(),
                   is_cuda ? nvidia_driver() : "VA-API");
}

}  // namespace

bool has_nvidia_driver() {
  std::error_code ignored;
  return std::ranges::any_of(std::array{"/dev/nvidiactl", kNvidiaVersion, "/dev/dxg"},
                             [&](const char* file) { return std::filesystem::exists(file, ignored); });
}

std::string nvidia_driver() {
  std::string line;
  std::getline(std::ifstream(kNvidiaVersion), line);
  return line;
}

BufferPtr open_hardware_device(const DecoderChoice& choice) {
  using Kind = DecoderFault::Kind;
  DecodingDevice& device = device_of(choice);
  const auto refuse_lost = [&] {
    if (device.is_lost) throw DecoderFault(Kind::unavailable, choice.name() + " stopped answering earlier");
  };
  refuse_lost();
  const std::lock_guard lock(device.opening);
  refuse_lost();
  if (device.is_stale.exchange(false)) {
    av_buffer_unref(&device.context);
    device.problem.clear();
  }
  if (!device.context && device.problem.empty()) open_device(device, choice);
  if (!device.problem.empty()) throw DecoderFault(Kind::unavailable, device.problem);
  BufferPtr shared(av_buffer_ref(device.context));
  if (!shared) throw std::bad_alloc();
  return shared;
}

void reopen_hardware_device(const DecoderChoice& choice) {
  device_of(choice).is_stale = true;
}

void lose_hardware_device(const DecoderChoice& choice) {
  device_of(choice).is_lost = true;
}

bool is_first_report(const DecoderChoice& choice) {
  return !device_of(choice).is_reported.exchange(true);
}

}  // namespace sightline::media
