// TIFF files as a source, and TIFFs in other containers, through the TiffReader that is set.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "base/work_limit.hpp"
#include "media/input_kind.hpp"
#include "media/source.hpp"
#include "media/tiff_reader.hpp"

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

const TiffReader* registered = nullptr;

TiffContent read_tiff(const std::string& path, const std::string& name, std::int64_t max_pixels) {
  if (!registered)
    throw Error(ExitCode::input, "'" + name + "' is a TIFF, which this program does not read",
                "convert it to PNG");
  TiffContent content;
  content.damage = registered->read(path, name, [&](const TiffSize& size) {
    check_picture_size(size.width, size.height, name, max_pixels);
    content.picture = make_picture(size.samples == 3 ? AV_PIX_FMT_RGB24 : AV_PIX_FMT_GRAY8,
                                   static_cast<int>(size.width), static_cast<int>(size.height));
    content.picture->color_range = AVCOL_RANGE_JPEG;
    if (size.pixel_aspect != 1) content.picture->sample_aspect_ratio = av_d2q(size.pixel_aspect, 1 << 16);
    return TiffRows{content.picture->data[0], content.picture->linesize[0]};
  });
  if (!content.damage.empty()) content.picture.reset();
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
    // The limits of pictures that FFmpeg decodes.
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

void set_tiff_reader(const TiffReader* reader) {
  registered = reader;
}

TiffContent decode_tiff(std::span<const std::uint8_t> content, const std::string& name,
                        std::int64_t max_pixels) {
  const MemoryFile file(content);
  try {
    return read_tiff(file.path(), name, max_pixels);
  } catch (const Error& error) {
    Error::Fields fields = error.fields();
    for (Message* const text : {&fields.problem, &fields.remedy})
      *text = replaced(text->text(Words::command_line), file.path(), name);
    throw Error(std::move(fields));
  }
}

std::unique_ptr<Source> open_tiff(const std::string& input, const SourceContext& context) {
  if (kind_of(input) != InputKind::file) return nullptr;
  std::error_code ignored;
  const std::string file = fs::exists(input, ignored) ? input : without_file_scheme(input);
  if (!registered || !fs::is_regular_file(file, ignored) || !registered->is_tiff(file)) return nullptr;
  return std::make_unique<Tiff>(input, file, context);
}

}  // namespace sightline::media
