#pragma once
/// Options that say what texture is, the same for every subcommand that computes it.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/common/schedule_options.hpp"
#include "image/border.hpp"
#include "params/options.hpp"
#include "texture/record.hpp"
#include "texture/settings.hpp"
#include "texture/tiles/picture.hpp"

namespace sightline::apps {

/// How pictures are described where the user says nothing.
struct TextureDefaults {
  std::vector<std::string> operators;
  LbpMapping mapping = LbpMapping::uniform;
};
/// One operator, as most programs have it.
TextureDefaults plain_defaults();
/// Operators that tell textures apart best; see tests/benchmarks/README.md.
TextureDefaults comparing_defaults();

/// All that decides a picture's histograms, checked.
struct TextureChoice {
  texture::TextureSettings settings;
  std::vector<tiles::Channel> channels;
  BorderRule border = BorderRule::reflect;
};

class TextureOptions {
 public:
  explicit TextureOptions(TextureDefaults defaults) : defaults_(std::move(defaults)) {}

  /// --operator and --mapping.
  void add_operators_to(OptionSet& options);
  /// These, and --channels, --border, --page, --range and what runs where.
  void add_to(OptionSet& options);

  /// Throws Error (usage).
  TextureChoice choice() const;
  /// Takes options that the user has not given from this record, so that what is computed can be compared
  /// with it. Throws Error (usage).
  void follow(const texture::TextureRecord& record);

  /// Throws Error (usage).
  tiles::OpenOptions opening() const;
  /// Side of a tile. Throws Error (usage) where cells do not fit in it.
  int tile(const TextureChoice& choice) const;
  bool is_strict() const { return strict_; }
  const ScheduleArguments& schedule() const { return schedule_; }

 private:
  TextureDefaults defaults_;
  std::vector<std::string> operators_;
  std::string mapping_;
  std::string channels_;
  std::string border_;
  int page_ = 0;
  std::string range_;
  std::optional<int> tile_;
  bool strict_ = false;
  ScheduleArguments schedule_;
};

}  // namespace sightline::apps
