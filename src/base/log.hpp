#pragma once
/// The libraries' log.

#include <spdlog/spdlog.h>

#include <memory>

namespace sightline {

/// Sets where the libraries log; until then, and with null, nothing is logged. To be called before the first
/// use of the libraries, or while they are not used.
void set_logger(std::shared_ptr<spdlog::logger> logger);

/// Any thread may write to it.
spdlog::logger& logger();

}  // namespace sightline
