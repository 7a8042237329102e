#pragma once
/// Computes the texture of pictures of any size: tiles through the pipeline.

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "apps/common/detector_engine.hpp"
#include "apps/texture/texture_options.hpp"
#include "texture/cell_sink.hpp"
#include "texture/processor.hpp"
#include "texture/record.hpp"

namespace sightline::apps {

/// Files written for a picture beside its record; empty names: none.
struct TextureFiles {
  std::string labels;                      ///< TIFF: each pixel's bin
  std::string cells;                       ///< .npy
  texture::CellSink* cell_sink = nullptr;  ///< takes the cells instead of a file; may be null
};

/// Rows of tiles: from `first` to before `end`.
struct TileRows {
  std::int64_t first = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
};

/// Tiles of a picture.
struct TileCounts {
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  std::int64_t step =
      1;  ///< bands begin at multiples of this number of rows, so that label files can be joined
};

/// Results of some rows of tiles of a picture; bands of one picture add up.
struct TextureBand {
  std::int64_t width = 0, height = 0;  ///< of the picture
  texture::TextureTotals totals;
  std::vector<tiles::Damage> damage;  ///< unreadable blocks, each once, in the order of the tiles
  std::vector<tiles::Damage> lost;    ///< tiles that were not computed
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

  /// The same for some rows of tiles. Files hold these rows alone.
  TextureBand run_rows(const std::string& picture, const TextureFiles& files, const TileRows& rows);
  /// The record of a picture from its bands' sum.
  /// @param cells  file of the cells; empty: none
  texture::TextureRecord record_of(const std::string& picture, const TextureBand& all,
                                   const std::string& cells) const;
  /// Opens a picture to count its tiles. Throws Error (input).
  TileCounts count_tiles(const std::string& picture) const;
  /// Joins the files of a picture's bands.
  /// @param parts  the files of each band, in the order of `rows`
  void join(const TextureBand& all, const TextureFiles& files, const std::vector<TileRows>& rows,
            const std::vector<TextureFiles>& parts) const;

  /// Names of the files of labels, in the order of their histograms: where there are several, each has
  /// operator and channel in its name.
  std::vector<std::string> label_files(const std::string& name) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Says which parts of a picture could not be read; whether there are any.
bool report_damage(const texture::TextureRecord& record);

/// Throws Error (usage) where an output's extension is none of those that `write_textures` knows.
void check_texture_outputs(const std::vector<std::string>& outputs);

/// Writes records to files: .json, .csv or .svg; "-" is JSON on standard output. Throws Error (failed).
void write_textures(const std::vector<std::string>& outputs,
                    const std::vector<texture::TextureRecord>& records, bool shares);

}  // namespace sightline::apps
