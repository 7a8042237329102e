#include "apps/batch/choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "apps/common/schedule_options.hpp"
#include "base/error.hpp"
#include "base/fnv.hpp"

namespace sightline::apps::batch {

void ObjectChoice::add_to(OptionSet& options) {
  options.group("Input");
  options.add("--recursive", &reading.recursive, "Also read pictures and videos in sub-folders");
  add_limit_options(options, reading);
  add_decoder_option(options, reading);
  tracking.add_to(options);
  detector.add_to(options);
}

void TextureJobChoice::add_to(OptionSet& options) {
  options.group("Output");
  options.add("--labels", &labels, "Also make pictures of each pixel's bin; `merge --labels` names them");
  options.add("--contrast", &contrast,
              "Also measure the contrast between the brighter neighbours of a pixel and the darker ones");
  options
      .add("--cells PX", &cell,
           "Side of square cells, each with histograms of its own, in pixels; `merge --cells-output` names "
           "their file")
      .between(1, 4096);
  options.group("Texture");
  texture.add_to(options);
}

TextureChoice TextureJobChoice::choice() const {
  TextureChoice choice = texture.choice();
  choice.settings.contrast = contrast;
  choice.settings.cell = cell;
  choice.settings.labels = labels;
  return choice;
}

OptionSet without_schedule(const OptionSet& options) {
  OptionSet schedule, rest;
  ScheduleArguments unused;
  add_device_options(schedule, unused);
  add_schedule_options(schedule, unused);
  for (const Option& option : options.all()) {
    const bool is_left_out = std::ranges::any_of(
        schedule.all(), [&](const Option& one) { return one.long_name() == option.long_name(); });
    if (is_left_out) continue;
    rest.group(option.group);
    rest.add(option);
  }
  return rest;
}

std::string model_fingerprint(const DetectorEngine& engine) {
  std::uint64_t hash = kFnvSeed;
  std::string block(1 << 20, 0);
  for (const std::filesystem::path& file : engine.files) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) continue;  // a name that led to another file
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw Error(ExitCode::model, "cannot read '" + file.string() + "'", "check its permissions");
    while (stream.read(block.data(), static_cast<std::streamsize>(block.size())), stream.gcount() > 0)
      hash = fnv1a(block.data(), static_cast<std::size_t>(stream.gcount()), hash);
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace sightline::apps::batch
