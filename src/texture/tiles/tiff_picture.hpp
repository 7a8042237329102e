#pragma once
/// Internal to src/tiles: TIFF files.

#include "texture/tiles/block_picture.hpp"
#include "texture/tiles/tiff_layout.hpp"

namespace sightline::tiles {

class TiffPicture : public BlockPicture {
 public:
  /// Throws Error (input).
  TiffPicture(const std::filesystem::path& file, const OpenOptions& options);
  /// Orientation fix for the stored pixels, which are read here.
  Turn turn() const { return layout_.turn; }

 private:
  TiffPicture(const std::filesystem::path& file, const OpenOptions& options, TiffFile first);
  void decode(std::int64_t column, std::int64_t row, bool colour, Block& block) override;
  /// A tile, or a strip out of a block.
  struct Part {
    std::int64_t number = 0;  ///< number in the file; of the first plane if there are several
    Region where;             ///< position in the picture
    int rows = 0;             ///< decoded rows, including a tile's rows below the picture
  };
  Part part_at(std::int64_t column, std::int64_t row, int strip) const;
  void decode_part(TiffPool::Reader& reader, const Part& part, Block& block, std::uint8_t* pixels,
                   int samples);
  void decode_luma(TiffPool::Reader& reader, const Part& part, Block& block, std::uint8_t* luma);
  bool read_jpeg_luma(TiffPool::Reader& reader, const Part& part, Block& block, std::uint8_t* luma);
  std::string decode_raw(TiffFile& tiff, std::uint32_t part, std::uint8_t* raw, std::int64_t bytes);

  const TiffLayout layout_;
  TiffPool pool_;
};

}  // namespace sightline::tiles
