#pragma once
/// Options that say what a job computes. `plan` stores them as words, and tasks read them from these.

#include "apps/cli/option_set.hpp"
#include "apps/common/detector_options.hpp"
#include "apps/common/media_options.hpp"
#include "apps/detect/track_options.hpp"
#include "apps/texture/texture_options.hpp"
#include "media/reader.hpp"
#include "params/options.hpp"

namespace sightline::apps::batch {

/// Options of a detector.
struct ObjectChoice {
  DetectorOptions detector;
  TrackOptions tracking;
  media::ReadOptions reading;
  void add_to(OptionSet& options);
};

/// Options of textures.
struct TextureJobChoice {
  TextureOptions texture{plain_defaults()};
  bool contrast = false;
  bool labels = false;
  int cell = 0;
  void add_to(OptionSet& options);
  /// Throws Error (usage).
  TextureChoice choice() const;
};

/// Options without those that say where stages run: these are for each task to choose.
OptionSet without_schedule(const OptionSet& options);

/// Reads stored words into the options of a choice.
template <typename Choice>
void read_words(Choice& choice, const std::vector<std::string>& words, const std::vector<std::string>& more) {
  OptionSet options;
  choice.add_to(options);
  std::vector<std::string> all = words;
  all.insert(all.end(), more.begin(), more.end());
  parse_words(options, all);
}

/// Fingerprint of the files that a detector was made of. Throws Error (model) where one cannot be read.
std::string model_fingerprint(const DetectorEngine& engine);

}  // namespace sightline::apps::batch
