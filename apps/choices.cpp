#include "choices.hpp"

#include <map>

#include "base/hardware.hpp"
#include "cascade/detector.hpp"
#include "detection/result_writer.hpp"
#include "detector_options.hpp"
#include "media/library_versions.hpp"
#include "opencl/device.hpp"
#include "pipeline/frame_queue.hpp"
#include "pipeline/schedule.hpp"

namespace sightline::apps {
namespace {

template <typename Names>
Choices named(const Names& names, bool files = false) {
  Choices choices;
  for (const auto& name : names) choices.values.push_back({std::string(name), ""});
  choices.files = files;
  return choices;
}

Choices files() {
  return {{}, true};
}

Choices nothing() {
  return {};
}

Choices configs() {
  return named(config_names(), true);
}

Choices models() {
  return named(cascade::names_shipped_with_opencv(), true);
}

Choices devices() {
  Choices choices{
      {{"auto", "a GPU if there is one"}, {"none", "the CPU's own code"}, {"cpu", ""}, {"gpu", ""}}};
  for (const opencl::DeviceInfo& device : opencl::list_devices())
    choices.values.push_back({std::to_string(device.index), device.name});
  return choices;
}

Choices schedules() {
  Choices choices = named(pipeline::schedule_names());
  choices.values.push_back({"auto", "measures what is best"});
  return choices;
}

Choices several_schedules() {
  Choices choices = schedules();
  choices.values.push_back({"all", ""});
  choices.values.push_back({"every", "all mappings of stages"});
  choices.list = true;
  return choices;
}

Choices instruction_set_names() {
  Choices choices = named(instruction_sets());
  choices.values.push_back({"best", ""});
  return choices;
}

Choices drop_policies() {
  using pipeline::DropPolicy;
  return named(
      std::vector{to_string(DropPolicy::oldest), to_string(DropPolicy::newest), to_string(DropPolicy::none)});
}

Choices formats() {
  return named(result_format_names());
}

Choices encoders() {
  return named(media::video_encoder_names());
}

Choices presets() {  // of libx264 and libx265
  return named(std::vector{"ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower",
                           "veryslow"});
}

Choices arithmetics() {
  return named(std::vector{"exact", "float"});
}

// By the long name. A text that is not in here is a file's name.
const std::map<std::string, Choices (*)()>& named_options() {
  static const std::map<std::string, Choices (*)()> options{
      {"arithmetic", arithmetics}, {"config", configs},
      {"data", nothing},           {"device", devices},
      {"drop", drop_policies},     {"encoder", encoders},
      {"format", formats},         {"instruction-set", instruction_set_names},
      {"label", nothing},          {"map", nothing},
      {"model", models},           {"name", nothing},
      {"pixel-format", nothing},   {"preset", presets},
      {"provenance", nothing},     {"rotate", nothing},
      {"schedule", schedules},     {"schedules", several_schedules},
      {"size", nothing},           {"window", nothing},
  };
  return options;
}

// CLI::IsMember's own words: "TEXT:{a,b}".
std::vector<std::string> members(const std::string& type) {
  const std::size_t begin = type.find('{'), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

}  // namespace

Choices choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (const std::vector<std::string> accepted = members(type); !accepted.empty()) return named(accepted);
  for (const std::string& name : option.get_lnames()) {
    if (const auto found = named_options().find(name); found != named_options().end()) return found->second();
  }
  return type.starts_with("TEXT") ? files() : nothing();
}

}  // namespace sightline::apps
