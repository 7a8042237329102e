#include "apps/cli/choices.hpp"

#include <CLI/CLI.hpp>

#include "apps/cli/config_lookup.hpp"
#include "base/hardware.hpp"
#include "detection/result_writer.hpp"
#include "detectors/families.hpp"
#include "media/library_versions.hpp"
#include "opencl/device.hpp"
#include "pipeline/session/frame_queue.hpp"
#include "pipeline/session/schedule.hpp"

namespace sightline::apps {
namespace {

template <typename Names>
Choices named(const Names& names, bool files = false) {
  Choices choices;
  for (const auto& name : names) choices.values.push_back({std::string(name), ""});
  choices.files = files;
  return choices;
}

}  // namespace

Choices config_choices() {
  return named(config_names(), true);
}

Choices model_choices() {
  Choices choices = named(model_names(), true);
  for (const Family* family : families()) {
    for (const std::string& name : family->model_names()) choices.values.push_back({name, ""});
  }
  return choices;
}

Choices device_choices() {
  Choices choices{
      {{"auto", "a GPU if there is one"}, {"none", "the CPU's own code"}, {"cpu", ""}, {"gpu", ""}}};
  for (const opencl::DeviceInfo& device : opencl::list_devices())
    choices.values.push_back({std::to_string(device.index), device.name});
  return choices;
}

Choices schedule_choices() {
  Choices choices = named(pipeline::schedule_names());
  choices.values.push_back({"auto", "measures, then takes the best"});
  return choices;
}

Choices several_schedule_choices() {
  Choices choices = schedule_choices();
  choices.values.push_back({"all", ""});
  choices.values.push_back({"every", "all mappings of stages"});
  choices.list = true;
  return choices;
}

Choices instruction_set_choices() {
  Choices choices = named(instruction_sets());
  choices.values.push_back({"best", ""});
  return choices;
}

Choices drop_policy_choices() {
  using pipeline::DropPolicy;
  return named(
      std::vector{to_string(DropPolicy::oldest), to_string(DropPolicy::newest), to_string(DropPolicy::none)});
}

Choices format_choices() {
  return named(result_format_names());
}

Choices encoder_choices() {
  return named(media::video_encoder_names());
}

Choices preset_choices() {  // of libx264 and libx265
  return named(std::vector{"ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower",
                           "veryslow"});
}

Choices decoder_choices() {
  return {{{"software", "FFmpeg's decoders"},
           {"auto", "hardware that is proved on the source, else software"},
           {"cuda", "NVIDIA's decoder"},
           {"vaapi", "the decoder of an Intel or AMD GPU"}}};
}

namespace {

// CLI::IsMember's own words: "TEXT:{a,b}".
std::vector<std::string> members(const std::string& type) {
  const std::size_t begin = type.find('{'), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

}  // namespace

Choices choices_of(const CLI::Option& option, const Suggestions& suggestions) {
  if (const std::vector<std::string> accepted = members(option.get_type_name()); !accepted.empty())
    return named(accepted);
  if (const auto found = suggestions.find(&option); found != suggestions.end()) return found->second();
  return {};
}

}  // namespace sightline::apps
