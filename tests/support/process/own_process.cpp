// In every test program: the libraries may do what `sightline` lets them do.
#include <spdlog/spdlog.h>

#include "base/log.hpp"
#include "base/process_policy.hpp"

namespace sightline::test {
namespace {

[[maybe_unused]] const bool kIsOwnProcess = [] {
  set_process_policy(kOwnProcess);
  set_logger(spdlog::default_logger());
  return true;
}();

}  // namespace
}  // namespace sightline::test
