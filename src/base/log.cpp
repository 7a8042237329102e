#include "base/log.hpp"

#include <spdlog/sinks/null_sink.h>

#include <utility>

namespace sightline {
namespace {

// Never destroyed: threads of other libraries may log until the process ends.
std::shared_ptr<spdlog::logger>& current() {
  static auto* const one = new std::shared_ptr<spdlog::logger>;
  return *one;
}

spdlog::logger& silent() {
  static auto* const none = new spdlog::logger("sightline", std::make_shared<spdlog::sinks::null_sink_mt>());
  return *none;
}

}  // namespace

void set_logger(std::shared_ptr<spdlog::logger> logger) {
  current() = std::move(logger);
}

spdlog::logger& logger() {
  spdlog::logger* const set = current().get();
  return set ? *set : silent();
}

}  // namespace sightline
