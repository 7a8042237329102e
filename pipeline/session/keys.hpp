#pragma once
/// Parameters of sections [schedule] and [knob] of a configuration.

#include "params/parameter.hpp"
#include "pipeline/session/schedule.hpp"

namespace sightline::pipeline::keys {
using namespace sightline::keys;

inline constexpr ParameterDetails kSchedule{.section = "schedule"}, kKnob{.section = "knob"};

inline constexpr Text kName(
    "name", "--schedule SCHEDULE",
    "Mapping of stages to processors: auto (measures and takes the best; the default with a device), "
    "cpu, gpu (all on the device), specialized, overlap, split",
    kSchedule);
inline constexpr Text kMap("map", "--map STAGE=PLACE,...",
                           "Processors of single stages: filter=gpu,classify=cpu (gpu is the OpenCL device)",
                           kSchedule);
inline constexpr Number kInFlight("in_flight", {0, kMostInFlight}, "--in-flight FRAMES",
                                  "Frames in flight (default: the schedule's own)", kSchedule);
inline constexpr Whole kBatch(
    "batch", {1, kMostInBatch}, "--batch FRAMES",
    "Maximum number of frames in one submission to a device (1 to 64, default 1; schedule auto finds "
    "its own)",
    {.shows_range = true, .section = "schedule"});
inline constexpr Number kSplit("split", {0, 0.99}, "--split SHARE",
                               "Share of each frame that the device searches (--schedule split)", kSchedule);
inline constexpr Text kGoal("goal", "--goal GOAL",
                            "Objective of schedule auto: throughput, latency or energy", kSchedule);
inline constexpr Text kDevices(
    "devices", "--device DEVICE",
    "OpenCL devices: auto (a GPU if there is one), none, all, gpus, cpu, gpu, an index or part of a name "
    "(see `sightline devices`), or several with commas: 0,1. cpu:1 takes one compute unit",
    kSchedule);
inline constexpr Text kBuffers(
    "buffers", "--buffers MODE",
    "Buffers of OpenCL devices: copied, mapped, or auto (mapped if host and device share memory)", kSchedule);

inline constexpr Text kSettings(
    "settings", "--settings KEY=VALUE;...",
    "Settings, from the most accurate to the fastest, as keys of [detector]: \"filters=50; "
    "filters=25; filters=12,scale_step=1.2\" (default: the model's sizes, then coarser scales)",
    kKnob);
inline constexpr Number kHold("hold", {1e-3, 1e6}, "--hold FPS",
                              "Target frame rate, in frames per second: switches to a faster, less accurate "
                              "setting when the machine is too slow, and back when it has time",
                              {.sign = Option::Sign::positive, .section = "knob"});
inline constexpr Text kBudget(
    "budget", "--budget BUDGET",
    "Energy budget, by the machine's meters: watts (40W) or joules per frame (0.2J)", kKnob);
inline constexpr Flag kBattery(
    "battery", "--battery",
    "Save the battery: one setting faster below 50% of its level, the fastest below 20%", kKnob);

}  // namespace sightline::pipeline::keys
