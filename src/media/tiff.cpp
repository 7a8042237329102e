#include "media/tiff.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/work_limit.hpp"
#include "media/stream_input.hpp"
#include "tiles/picture.hpp"
#include "tiles/tiff_pages.hpp"

namespace sightline::media {
namespace {

namespace fs = std::filesystem;

/// Bytes as a file that has no name.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::uint8_t> content) : file_(memfd_create("tiff", MFD_CLOEXEC)) {
    for (std::size_t done = 0; done < content.size();) {
      const ssize_t count = file_ < 0 ? -1 : ::write(file_, content.data() + done, content.size() - done);
      if (count <= 0) {
        if (file_ >= 0) ::close(file_);
        throw std::bad_alloc();
      }
      done += static_cast<std::size_t>(count);
    }
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// Reads the rows of one row of blocks. Returns what is damaged.
std::vector<tiles::Damage> read_rows(tiles::Picture& file, int y, int rows, AVFrame& to) {
  using tiles::Channel;
  constexpr std::array kColour{Channel::red, Channel::green, Channel::blue};
  constexpr std::array kGray{Channel::luma};
  const bool colour = file.info().has_colour;
  const int width = to.width;
  std::vector<Image<std::uint8_t>> planes;
  std::vector<ImageView<std::uint8_t>> views;
  for (int i = 0; i < (colour ? 3 : 1); ++i) planes.emplace_back(width, rows);
  for (Image<std::uint8_t>& plane : planes) views.push_back(plane.view());
  const std::span<const Channel> channels = colour ? std::span<const Channel>(kColour) : kGray;
  std::vector<tiles::Damage> damage = file.read({0, y, width, rows}, channels, views);
  const std::size_t samples = planes.size();
  for (int row = 0; row < rows; ++row) {
    std::uint8_t* const out = to.data[0] + std::ptrdiff_t{y + row} * to.linesize[0];
    for (std::size_t c = 0; c < samples; ++c) {
      const std::uint8_t* const in = views[c].row(row);
      for (int x = 0; x < width; ++x) out[static_cast<std::size_t>(x) * samples + c] = in[x];
    }
  }
  return damage;
}

TiffContent read_tiff(const std::string& path, const std::string& name, std::int64_t max_pixels) {
  const tiles::TiffPages pages = tiles::tiff_pages(path);
  tiles::OpenOptions options;
  options.page = pages.first;
  options.spread_unsigned = true;
  const std::unique_ptr<tiles::Picture> file = tiles::open_tiff(path, options);
  const tiles::PictureInfo& info = file->info();
  check_picture_size(info.width, info.height, name, max_pixels);
  if (pages.left_out > 0)
    spdlog::warn("'{}' has several pages: the first is read, {} left out; split it with tiffsplit", name,
                 counted(pages.left_out, "page") + (pages.left_out == 1 ? " is" : " are"));
  TiffContent content;
  content.picture = make_picture(info.has_colour ? AV_PIX_FMT_RGB24 : AV_PIX_FMT_GRAY8,
                                 static_cast<int>(info.width), static_cast<int>(info.height));
  content.picture->color_range = AVCOL_RANGE_JPEG;
  if (pages.pixel_aspect != 1) content.picture->sample_aspect_ratio = av_d2q(pages.pixel_aspect, 1 << 16);
  for (int y = 0; y < content.picture->height; y += info.block.height) {
    const int rows = std::min(info.block.height, content.picture->height - y);
    const std::vector<tiles::Damage> damage = read_rows(*file, y, rows, *content.picture);
    file->passed({0, y, content.picture->width, rows}, 0);
    if (damage.empty()) continue;
    return {nullptr, "the picture is damaged or cut short (" + tiles::to_string(damage.front()) + ")"};
  }
  return content;
}

class Tiff final : public Source {
 public:
  Tiff(const std::string& input, fs::path file, const SourceContext& context)
      : name_(input),
        file_(std::move(file)),
        max_pixels_(context.options.max_pixels),
        errors_(context.errors) {}

  std::optional<SourceFrame> next() override {
    if (std::exchange(done_, true)) return std::nullopt;
    // As pictures that FFmpeg decodes.
    const WorkLimit limit("reading '" + name_ + "'",
                          {60 + 0.2e-6 * static_cast<double>(max_pixels_), (1 << 30) + 16 * max_pixels_});
    TiffContent content = read_tiff(file_, name_, max_pixels_);
    if (!content.damage.empty()) {
      errors_.add(content.damage);
      return std::nullopt;
    }
    SourceFrame frame;
    frame.picture = std::move(content.picture);
    return frame;
  }

  bool seek(double) override { return true; }

  StreamInfo info() const override {
    StreamInfo info;
    info.frame_rate = {25, 1};
    info.codec = "tiff";
    info.frames = 1;
    info.is_pictures = true;
    return info;
  }

 private:
  const std::string name_;
  const fs::path file_;
  const std::int64_t max_pixels_;
  DecodeErrors& errors_;
  bool done_ = false;
};

}  // namespace

TiffContent decode_tiff(std::span<const std::uint8_t> content, const std::string& name,
                        std::int64_t max_pixels) {
  const MemoryFile file(content);
  try {
    return read_tiff(file.path(), name, max_pixels);
  } catch (const Error& error) {
    throw Error(error.code(), replaced(error.what(), file.path(), name));
  }
}

std::unique_ptr<Source> open_tiff(const std::string& input, const SourceContext& context) {
  if (kind_of(input) != InputKind::file) return nullptr;
  std::error_code ignored;
  std::string file = input;
  for (const std::string_view prefix : {"file://", "file:"})
    if (!fs::exists(file, ignored) && input.starts_with(prefix)) file = input.substr(prefix.size());
  if (!fs::is_regular_file(file, ignored) || !tiles::is_tiff(file)) return nullptr;
  return std::make_unique<Tiff>(input, file, context);
}

}  // namespace sightline::media
