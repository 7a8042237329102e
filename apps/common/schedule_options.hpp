#pragma once
/// Options that say what runs where, the same for every subcommand that runs a frame processor.

#include "params/options.hpp"
#include "pipeline/session/schedule.hpp"

namespace sightline::apps {

struct ScheduleArguments {
  pipeline::ScheduleRequest request;
  int threads = 0;  ///< of the CPU; 0: all
  bool explain = false;
};

/// --device and --buffers.
void add_device_options(OptionSet& options, ScheduleArguments& arguments);
/// --schedule, --map, --split, --in-flight, --goal, --explain and --threads.
void add_schedule_options(OptionSet& options, ScheduleArguments& arguments);

}  // namespace sightline::apps
