#pragma once
/// Internal to src/tiles: slides that OpenSlide reads.

#include <memory>
#include <mutex>

#include "texture/tiles/block_picture.hpp"

struct _openslide;

namespace sightline::tiles {

/// Whether OpenSlide knows the file for a slide, and it is no TIFF that says all about itself.
bool needs_openslide(const std::filesystem::path& file);

/// A level of a slide. Areas that were not scanned have the slide's background colour, or white.
class SlidePicture : public BlockPicture {
 public:
  /// Throws Error (input).
  SlidePicture(const std::filesystem::path& file, const OpenOptions& options);

 private:
  struct Close {
    void operator()(_openslide* slide) const;
  };
  using Slide = std::shared_ptr<_openslide>;
  void decode(std::int64_t column, std::int64_t row, bool colour, Block& block) override;
  Slide open() const;
  Slide current();
  std::string read_pixels(_openslide* slide, std::int64_t column, std::int64_t row,
                          std::vector<std::uint32_t>& pixels) const;

  int level_ = 0;
  double scale_ = 1;  // pixels of the slide's finest level to one of this
  std::uint32_t background_ = 0xffffff;
  std::mutex mutex_;
  Slide slide_;
};

}  // namespace sightline::tiles
