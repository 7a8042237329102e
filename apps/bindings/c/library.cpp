// Version, statuses, devices and log.
#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "apps/bindings/c/call.hpp"
#include "base/hardware.hpp"
#include "base/json_text.hpp"
#include "base/log.hpp"
#include "base/utf8.hpp"
#include "media/secrets.hpp"
#include "opencl/device.hpp"

namespace sightline::api {
namespace {

// Lines to a file descriptor of the caller's. A line that cannot be written is lost.
class DescriptorSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void set_descriptor(int descriptor) { descriptor_ = descriptor; }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const int descriptor = descriptor_;
    if (descriptor < 0) return;
    const spdlog::string_view_t level = spdlog::level::to_string_view(message.level);
    const std::string text =
        printable(media::redacted({message.payload.data(), message.payload.size()}), "\t");
    const std::string line =
        fmt::format("sightline: {}: {}\n", std::string_view(level.data(), level.size()), text);
    for (std::string_view left = line; !left.empty();) {
      const ssize_t written = ::write(descriptor, left.data(), left.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;
      left.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void flush_() override {}

 private:
  std::atomic<int> descriptor_{-1};
};

// Made once, and never destroyed: the libraries' threads may log until the process ends.
struct Log {
  std::shared_ptr<DescriptorSink> sink = std::make_shared<DescriptorSink>();
  std::shared_ptr<spdlog::logger> logger = std::make_shared<spdlog::logger>("sightline", sink);
};

Log& log_of_process() {
  static Log* const log = [] {
    auto made = std::make_unique<Log>();
    made->logger->set_level(spdlog::level::off);
    set_logger(made->logger);
    return made.release();
  }();
  return *log;
}

}  // namespace

void prepare_log() {
  log_of_process();
}

namespace {

std::string device_object(const opencl::DeviceInfo& device) {
  return fmt::format(
      R"({{"index":{},"name":{},"type":{},"platform":{},"version":{},"driver":{},"compute_units":{},)"
      R"("memory_bytes":{},"unified_memory":{},"usable":{}}})",
      device.index, json_string(device.name), json_string(to_string(device.type)),
      json_string(device.platform), json_string(device.version), json_string(device.driver_version),
      device.compute_units, device.memory_bytes, device.unified_memory,
      device.correctly_rounded_divide_sqrt && device.compiler_available);
}

std::string devices_object() {
  const std::vector<opencl::DeviceInfo> devices = opencl::list_devices();
  std::string list;
  for (const opencl::DeviceInfo& device : devices) list += (list.empty() ? "" : ",") + device_object(device);
  const auto chosen = opencl::choose_device({"auto", 0}, devices);
  return fmt::format(
      R"({{"cpu":{{"name":{},"instruction_set":{},"threads":{}}},"devices":[{}],"default":{}}})",
      json_string(cpu_name()), json_string(instruction_set()), hardware_threads(), list,
      chosen ? std::to_string(chosen->device.index) : "null");
}

}  // namespace
}  // namespace sightline::api

using namespace sightline::api;

uint32_t sl_abi(void) {
  return std::uint32_t{SL_ABI_MAJOR} << 16 | SL_ABI_MINOR;
}

const char* sl_version(void) {
  return SIGHTLINE_VERSION;
}

const char* sl_status_name(sl_status status) {
  switch (status) {
    case SL_OK:
      return "SL_OK";
    case SL_END:
      return "SL_END";
    case SL_TIMEOUT:
      return "SL_TIMEOUT";
    case SL_LOST:
      return "SL_LOST";
    case SL_BACK:
      return "SL_BACK";
    case SL_E_ARGUMENT:
      return "SL_E_ARGUMENT";
    case SL_E_CONFIG:
      return "SL_E_CONFIG";
    case SL_E_INPUT:
      return "SL_E_INPUT";
    case SL_E_DEVICE:
      return "SL_E_DEVICE";
    case SL_E_MEMORY:
      return "SL_E_MEMORY";
    case SL_E_LIMIT:
      return "SL_E_LIMIT";
    case SL_E_FORKED:
      return "SL_E_FORKED";
    case SL_E_STATE:
      return "SL_E_STATE";
    case SL_E_INTERNAL:
      return "SL_E_INTERNAL";
  }
  return "unknown status";
}

void sl_text_free(char* text) {
  std::free(text);
}

sl_status sl_devices(char** json, sl_error* error) {
  return guarded(error, [&] {
    checked(json, "json") = nullptr;
    begin_use();  // drivers start threads
    const KeptHandlers kept;
    *json = copy_text(devices_object());
  });
}

sl_status sl_log(int level, int fd) {
  return guarded(nullptr, [&] {
    if (level < -1 || level > 3) throw CallError{SL_E_ARGUMENT, "level must be -1, 0, 1, 2 or 3"};
    if (level >= 0 && fd < 0) throw CallError{SL_E_ARGUMENT, "fd is negative"};
    constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::off, spdlog::level::err,
                                                     spdlog::level::warn, spdlog::level::info,
                                                     spdlog::level::debug};
    Log& log = log_of_process();
    log.sink->set_descriptor(level < 0 ? -1 : fd);
    log.logger->set_level(kLevels[level + 1]);
  });
}
