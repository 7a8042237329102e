#include "support/log_capture.hpp"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include "base/log.hpp"

namespace sightline::test {

LogCapture::LogCapture() : before_(spdlog::default_logger()) {
  const auto logger =
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_));
  spdlog::set_default_logger(logger);
  set_logger(logger);
}

LogCapture::~LogCapture() {
  spdlog::set_default_logger(before_);
  set_logger(before_);
}

}  // namespace sightline::test
