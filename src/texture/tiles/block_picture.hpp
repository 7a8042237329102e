#pragma once
/// Internal to src/tiles: pictures in files that are decoded in blocks.

#include <filesystem>

#include "texture/tiles/block_cache.hpp"
#include "texture/tiles/picture.hpp"

namespace sightline::tiles {

/// Identity of a file's content, to detect changes. Throws Error (input) if there is no file.
struct FileStamp {
  explicit FileStamp(const std::filesystem::path& file);
  friend bool operator==(const FileStamp&, const FileStamp&) = default;

  std::uint64_t device = 0, node = 0;
  std::int64_t size = 0, seconds = 0, nanoseconds = 0;
};

/// Cuts regions out of blocks, which lie in a grid of `info().block` and are decoded by a derived class and
/// kept for a while.
class BlockPicture : public Picture {
 public:
  std::vector<Damage> read(const Region& region, std::span<const Channel> channels,
                           std::span<const ImageView<std::uint8_t>> planes) override;
  void passed(const Region& region, int overlap) override;

 protected:
  BlockPicture(const std::filesystem::path& file, std::size_t cache_bytes);

  /// Fills a block of `info().block`, including parts beyond the picture, with three samples if `colour`,
  /// else gray or luma. Several threads may decode different blocks at once.
  virtual void decode(std::int64_t column, std::int64_t row, bool colour, Block& block) = 0;
  /// The part of a block that lies within the picture.
  Region inside(std::int64_t column, std::int64_t row) const;

  const std::filesystem::path file_;
  /// True if luma differs from image/gray.hpp's for these colours. It is then decoded separately, even
  /// together with colours.
  bool luma_is_apart_ = false;

 private:
  std::shared_ptr<const Block> block_at(std::int64_t column, std::int64_t row, bool colour);
  std::int64_t key(std::int64_t column, std::int64_t row, bool colour) const;

  const FileStamp stamp_;
  BlockCache cache_;
};

}  // namespace sightline::tiles
