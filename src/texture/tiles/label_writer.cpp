#include "texture/tiles/label_writer.hpp"

#include <libdeflate.h>
#include <oneapi/tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"
#include "base/parallel.hpp"
#include "texture/tiles/tiff_file.hpp"

namespace sightline::tiles {

namespace {

constexpr std::int64_t kTileSide = kLabelTileSide;
// Compression level, 1 to 12. A slide's uniform labels shrink to 30% at 180 MB/s a core; level 6 gives 28% at
// 80 MB/s, level 12 27% at 4 MB/s.
constexpr int kLevel = 1;

class Deflate {
 public:
  Deflate() : compressor_(libdeflate_alloc_compressor(kLevel)) {
    if (!compressor_) throw std::bad_alloc();
  }
  std::vector<std::uint8_t> operator()(const std::vector<std::uint8_t>& bytes) {
    std::vector<std::uint8_t> packed(libdeflate_zlib_compress_bound(compressor_.get(), bytes.size()));
    packed.resize(libdeflate_zlib_compress(compressor_.get(), bytes.data(), bytes.size(), packed.data(),
                                           packed.size()));
    return packed;
  }

 private:
  struct Free {
    void operator()(libdeflate_compressor* one) const { libdeflate_free_compressor(one); }
  };
  std::unique_ptr<libdeflate_compressor, Free> compressor_;
};

/// A tile that is being put together.
struct Unfinished {
  std::vector<std::uint8_t> bytes;
  std::int64_t missing = 0;  // pixels
};

}  // namespace

class LabelWriter::Impl {
 public:
  Impl(const std::filesystem::path& file, std::int64_t width, std::int64_t height, int bits)
      : name_(file.string()),
        width_(width),
        height_(height),
        sample_bytes_(static_cast<std::size_t>(bits / 8)),
        columns_((width + kTileSide - 1) / kTileSide),
        missing_(columns_ * ((height + kTileSide - 1) / kTileSide)),
        file_(checked(file)),
        tiff_(file_, "w8") {
    if (file_.error()) errno = file_.error().value();
    if (!tiff_) fail();
    TIFF* const tiff = tiff_.get();
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(width));
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(height));
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, static_cast<std::uint32_t>(kTileSide));
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, static_cast<std::uint32_t>(kTileSide));
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
  }

  void write(std::int64_t x, std::int64_t y, const std::uint8_t* pixels, Size size, std::ptrdiff_t stride) {
    std::vector<std::int64_t> whole;
    for (std::int64_t row = y / kTileSide; row * kTileSide < y + size.height; ++row) {
      for (std::int64_t column = x / kTileSide; column * kTileSide < x + size.width; ++column) {
        Unfinished& tile = unfinished(column, row);
        const std::int64_t left = std::max(x, column * kTileSide), top = std::max(y, row * kTileSide);
        const std::int64_t right = std::min(x + size.width, (column + 1) * kTileSide);
        const std::int64_t bottom = std::min(y + size.height, (row + 1) * kTileSide);
        for (std::int64_t line = top; line < bottom; ++line) {
          const std::int64_t to = (line - row * kTileSide) * kTileSide + left - column * kTileSide;
          std::memcpy(tile.bytes.data() + static_cast<std::size_t>(to) * sample_bytes_,
                      pixels + (line - y) * stride + (left - x) * static_cast<std::int64_t>(sample_bytes_),
                      static_cast<std::size_t>(right - left) * sample_bytes_);
        }
        tile.missing -= (right - left) * (bottom - top);
        if (tile.missing == 0) whole.push_back(row * columns_ + column);
      }
    }
    write_tiles(whole);
  }

  void copy(const std::filesystem::path& file, std::int64_t y) {
    const TiffFile from(file, "r");
    const auto refuse = [&] {
      throw Error(ExitCode::failed, "'" + file.string() + "' is not a part of label image '" + name_ + "'",
                  "compute that part again");
    };
    if (!from || from.tag<std::uint32_t>(TIFFTAG_IMAGEWIDTH, 0) != static_cast<std::uint32_t>(width_) ||
        from.tag<std::uint16_t>(TIFFTAG_BITSPERSAMPLE, 0) != 8 * sample_bytes_ || y % kTileSide != 0)
      refuse();
    const auto first = static_cast<std::uint32_t>(y / kTileSide * columns_);
    // In the order in which they were written, which is that of their places in the file.
    std::vector<std::pair<std::uint64_t, std::uint32_t>> tiles;
    for (std::uint32_t tile = 0; tile < TIFFNumberOfTiles(from.get()); ++tile)
      tiles.emplace_back(TIFFGetStrileOffset(from.get(), tile), tile);
    std::ranges::sort(tiles);
    std::vector<std::uint8_t> bytes;
    for (const auto& [place, tile] : tiles) {
      bytes.resize(TIFFGetStrileByteCount(from.get(), tile));
      const auto size = static_cast<tmsize_t>(bytes.size());
      if (bytes.empty() || TIFFReadRawTile(from.get(), tile, bytes.data(), size) != size) refuse();
      write_packed(first + tile, bytes);
    }
  }

  void finish() {
    if (missing_ != 0)
      throw Error(ExitCode::failed, "label image '" + name_ + "' is incomplete", "run it again");
    errno = 0;
    const bool written =
        TIFFWriteDirectory(tiff_.get()) == 1 && !fault::strikes(fault::Kind::write, "TIFFWriteDirectory");
    tiff_.close();
    if (!written || !tiff_.messages().error.empty()) fail();
    if (const std::error_code error = file_.finish()) {
      errno = error.value();
      fail();
    }
  }

  std::size_t sample_bytes() const { return sample_bytes_; }

 private:
  static const std::filesystem::path& checked(const std::filesystem::path& file) {
    std::error_code ignored;
    const auto status = std::filesystem::status(file, ignored);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
      throw Error(ExitCode::failed,
                  "cannot write label image '" + file.string() + "': it is not a regular file",
                  "a TIFF needs random access; give a file");
    }
    return file;
  }

  [[noreturn]] void fail() {
    const int error = errno;
    const std::string& said = tiff_.messages().error;
    const std::string reason = error != 0     ? std::strerror(error)
                               : said.empty() ? "the disk refuses it"
                                              : said;
    throw Error(ExitCode::failed, "cannot write label image '" + name_ + "': " + reason,
                "check the folder, its permissions and the disk space");
  }

  Unfinished& unfinished(std::int64_t column, std::int64_t row) {
    Unfinished& tile = unfinished_[row * columns_ + column];
    if (tile.bytes.empty()) {
      tile.bytes.resize(static_cast<std::size_t>(kTileSide * kTileSide) * sample_bytes_);
      tile.missing =
          std::min(kTileSide, width_ - column * kTileSide) * std::min(kTileSide, height_ - row * kTileSide);
    }
    return tile;
  }

  void write_tiles(const std::vector<std::int64_t>& whole) {
    std::vector<std::vector<std::uint8_t>> packed(whole.size());
    parallel_for_isolated(whole.size(), [&](std::size_t i) {
      packed[i] = deflate_.local()(unfinished_.find(whole[i])->second.bytes);
    });
    for (std::size_t i = 0; i < whole.size(); ++i) {
      write_packed(static_cast<std::uint32_t>(whole[i]), packed[i]);
      unfinished_.erase(whole[i]);
    }
  }

  void write_packed(std::uint32_t tile, std::vector<std::uint8_t>& packed) {
    errno = 0;
    const auto bytes = static_cast<tmsize_t>(packed.size());
    if (fault::strikes(fault::Kind::write, "TIFFWriteRawTile") ||
        TIFFWriteRawTile(tiff_.get(), tile, packed.data(), bytes) != bytes)
      fail();
    --missing_;
  }

  const std::string name_;
  const std::int64_t width_, height_;
  const std::size_t sample_bytes_;
  const std::int64_t columns_;
  std::int64_t missing_;  // tiles
  std::map<std::int64_t, Unfinished> unfinished_;
  oneapi::tbb::enumerable_thread_specific<Deflate> deflate_;
  AtomicFile file_;
  TiffFile tiff_;  // after the file, which takes the name away where this is not whole
};

LabelWriter::LabelWriter(const std::filesystem::path& file, std::int64_t width, std::int64_t height, int bits)
    : impl_(std::make_unique<Impl>(file, width, height, bits)) {}
LabelWriter::~LabelWriter() = default;

void LabelWriter::write(std::int64_t x, std::int64_t y, ImageView<const std::uint8_t> pixels) {
  if (impl_->sample_bytes() != 1) throw std::logic_error("labels of 8 bits for an image of 16");
  impl_->write(x, y, pixels.data(), pixels.size(), pixels.stride());
}

void LabelWriter::write(std::int64_t x, std::int64_t y, ImageView<const std::uint16_t> pixels) {
  if (impl_->sample_bytes() != 2) throw std::logic_error("labels of 16 bits for an image of 8");
  impl_->write(x, y, reinterpret_cast<const std::uint8_t*>(pixels.data()), pixels.size(),
               pixels.stride() * 2);
}

void LabelWriter::copy(const std::filesystem::path& file, std::int64_t y) {
  impl_->copy(file, y);
}

void LabelWriter::finish() {
  impl_->finish();
}

}  // namespace sightline::tiles
