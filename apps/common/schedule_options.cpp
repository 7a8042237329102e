#include "apps/common/schedule_options.hpp"

#include "apps/cli/choices.hpp"

namespace sightline::apps {

void add_device_options(OptionSet& options, ScheduleArguments& arguments) {
  options
      .add("--device DEVICE", &arguments.request.devices,
           "OpenCL devices: auto (a GPU if there is one), none, all, gpus, cpu, gpu, an index or part of a "
           "name "
           "(see `sightline devices`), or several with commas: 0,1. cpu:1 takes one compute unit")
      .suggest(device_choices)
      .show_default("auto");
  options
      .add("--buffers MODE", &arguments.request.buffers,
           "Buffers of OpenCL devices: copied, mapped, or auto (mapped if host and device share memory)")
      .one_of({"auto", "copied", "mapped"})
      .show_default("auto");
}

void add_schedule_options(OptionSet& options, ScheduleArguments& arguments) {
  options
      .add("--schedule SCHEDULE", &arguments.request.name,
           "Mapping of stages to processors: auto (measures and takes the best; the default with a device), "
           "cpu, gpu (all on the device), specialized, overlap, split")
      .suggest(schedule_choices);
  options
      .add("--map STAGE=PLACE,...", &arguments.request.map,
           "Processors of single stages: filter=gpu,classify=cpu (gpu is the OpenCL device)")
      .free_text();
  options
      .add("--split SHARE", &arguments.request.split,
           "Share of each frame that the device searches (--schedule split)")
      .between(0.01, 0.99);
  options
      .add("--in-flight FRAMES", &arguments.request.in_flight,
           "Frames in flight (default: the schedule's own)")
      .between(1, pipeline::kMostInFlight);
  options
      .add("--batch FRAMES", &arguments.request.batch,
           "Maximum number of frames in one submission to a device (1 to 64, default 1; schedule auto finds "
           "its own)")
      .between(1, pipeline::kMostInBatch);
  options
      .add("--goal GOAL", &arguments.request.goal,
           "Objective of schedule auto: throughput, latency or energy")
      .one_of({"throughput", "latency", "energy"});
  options.add("--explain", &arguments.explain, "Show the schedules that auto compared");
  options.add("--threads N", &arguments.threads, "CPU threads (default: all)").between(1, 1024);
}

}  // namespace sightline::apps
