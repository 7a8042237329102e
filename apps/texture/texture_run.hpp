#pragma once
/// Computes the texture of pictures of any size: tiles through the pipeline.

#include <memory>
#include <string>

#include "apps/common/engine.hpp"
#include "apps/texture/texture_options.hpp"
#include "texture/processor.hpp"
#include "texture/record.hpp"

namespace sightline::apps {

/// What is written of a picture beside its record; empty names: nothing.
struct TextureFiles {
  std::string labels;  ///< TIFF: each pixel's bin
  std::string cells;   ///< .npy
};

/// For one picture after the other. Thread-safety: one thread.
class TextureRunner {
 public:
  /// Throws Error (usage, device) where options cannot be meant, or a device that was named does not work.
  /// @param choice     with cells and labels, where they are wanted
  /// @param verbosity  as Common::verbosity; below 0, nothing is said but what went wrong
  TextureRunner(const TextureOptions& options, const TextureChoice& choice, int verbosity);
  ~TextureRunner();

  /// Throws Error (input) where the picture cannot be read, or a part of it, and the options are strict;
  /// (failed) where files cannot be written, or where a stop was asked for: then no file is left.
  texture::TextureRecord run(const std::string& picture, const TextureFiles& files = {});

  /// Names of the files of labels, in the order of their histograms: where there are several, each has
  /// operator and channel in its name.
  std::vector<std::string> label_files(const std::string& name) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Says which parts of a picture could not be read; whether there are any.
bool report_damage(const texture::TextureRecord& record);

}  // namespace sightline::apps
