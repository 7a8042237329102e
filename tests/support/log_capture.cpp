#include "support/log_capture.hpp"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

namespace sightline::test {

LogCapture::LogCapture() : before_(spdlog::default_logger()) {
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)));
}

LogCapture::~LogCapture() {
  spdlog::set_default_logger(before_);
}

}  // namespace sightline::test
