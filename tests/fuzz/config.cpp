#include <string_view>

#include "base/error.hpp"
#include "detectors/registry.hpp"
#include "faces/recognition/section.hpp"
#include "pipeline/planning/knob_policy.hpp"
#include "pipeline/runtime/schedule.hpp"
#include "targets.hpp"

namespace sightline::fuzz {

void config(Bytes bytes) {
  try {
    const Config read =
        Config::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "input.toml");
    pipeline::ScheduleRequest schedule;
    pipeline::read_schedule(read, schedule);
    pipeline::KnobRequest knob;
    pipeline::read_knob(read, knob);
    pipeline::policy_of(knob);
    check_detector_config(read, recognition::detector_extensions());
  } catch (const Error&) {
  }
}

}  // namespace sightline::fuzz
