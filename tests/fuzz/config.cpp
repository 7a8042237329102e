#include <string_view>

#include "base/error.hpp"
#include "detectors/families.hpp"
#include "faces/recognition/section.hpp"
#include "pipeline/planning/quality_objective.hpp"
#include "pipeline/session/schedule.hpp"
#include "targets.hpp"

namespace sightline::fuzz {

void config(Bytes bytes) {
  try {
    const Config read =
        Config::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "input.toml");
    pipeline::ScheduleRequest schedule;
    pipeline::read_schedule(read, schedule);
    pipeline::QualityRequest quality;
    pipeline::read_quality(read, quality);
    pipeline::objective_of(quality);
    check_detector_config(read, recognition::detector_extensions());
  } catch (const Error&) {
  }
}

}  // namespace sightline::fuzz
