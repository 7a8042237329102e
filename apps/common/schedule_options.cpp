#include "apps/common/schedule_options.hpp"

#include "apps/cli/choices.hpp"
#include "pipeline/session/keys.hpp"

namespace sightline::apps {

namespace keys = pipeline::keys;

void add_device_options(OptionSet& options, ScheduleArguments& arguments) {
  pipeline::ScheduleRequest& request = arguments.request;
  options.add(keys::kDevices.make_option(&request.devices)).suggest(device_choices).show_default("auto");
  options.add(keys::kBuffers.make_option(&request.buffers))
      .one_of({"auto", "copied", "mapped"})
      .show_default("auto");
}

void add_schedule_options(OptionSet& options, ScheduleArguments& arguments) {
  pipeline::ScheduleRequest& request = arguments.request;
  options.add(keys::kName.make_option(&request.name)).suggest(schedule_choices);
  options.add(keys::kMap.make_option(&request.map)).free_text();
  options.add(keys::kSplit.make_option(&request.split)).between(0.01, 0.99);
  options.add(keys::kInFlight.make_option(&request.in_flight)).between(1, pipeline::kMostInFlight);
  options.add(keys::kBatch.make_option(&request.batch));
  options.add(keys::kGoal.make_option(&request.goal)).one_of({"throughput", "latency", "energy"});
  options.add("--explain", &arguments.explain, "Show the schedules that auto compared");
  options.add("--threads N", &arguments.threads, "CPU threads (default: all)").between(1, 1024);
}

}  // namespace sightline::apps
