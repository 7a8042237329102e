// Images of a folder, each opened in turn, so that types and sizes may differ.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "media/folder.hpp"
#include "media/source.hpp"

namespace sightline::media {
namespace {

namespace fs = std::filesystem;

constexpr int kRate = 25;  // nominal: pictures of a folder have no times

bool is_image(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.starts_with('.')) return false;  // also the "._x.jpg" companions that macOS leaves
  return av_match_ext(
             name.c_str(),
             "jpg,jpeg,jpe,jfif,png,bmp,dib,tif,tiff,webp,gif,pgm,ppm,pbm,pnm,pam,pfm,pgmyuv,jp2,j2k,j2c,"
             "jls,tga,dpx,exr,sgi,pcx,xbm,xpm,xwd,sun,ras,qoi,psd,hdr,dds,jxl") != 0;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// img2 before img10: runs of digits compare by value, the rest byte by byte; equal values by their length.
bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const auto run = [](std::string_view text, std::size_t& at) {
        while (at < text.size() && text[at] == '0') ++at;
        const std::size_t from = at;
        while (at < text.size() && is_digit(text[at])) ++at;
        return text.substr(from, at - from);
      };
      const std::string_view x = run(a, i), y = run(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i, ++j;
    }
  }
  const std::size_t left_a = a.size() - i, left_b = b.size() - j;
  return left_a != left_b ? left_a < left_b : a < b;
}

}  // namespace

std::vector<fs::path> list_images(const std::string& folder) {
  std::vector<fs::path> images;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (is_image(entry->path()) && entry->is_regular_file(ignored)) images.push_back(entry->path());
  }
  if (error)
    throw Error(ExitCode::input, "cannot list the folder '" + folder + "' (" + error.message() + ")",
                "check its permissions");
  if (images.empty())
    throw Error(ExitCode::input, "there are no images in the folder '" + folder + "'",
                "images are recognised by their file name's extension, such as .jpg or .png");
  std::sort(images.begin(), images.end(), [](const fs::path& a, const fs::path& b) {
    return natural_less(a.filename().string(), b.filename().string());
  });
  return images;
}

namespace {

class Folder final : public Source {
 public:
  Folder(const std::string& folder, const SourceContext& context)
      : images_(list_images(folder)), options_(context.options), errors_(context.errors) {
    options_.threads = 1;  // starting a pool of threads for one picture costs more than it gives
    options_.keep_audio = false;
  }

  std::optional<SourceFrame> next() override {
    while (next_ < images_.size()) {
      if (options_.stop && options_.stop->load()) return std::nullopt;
      const std::size_t index = next_++;
      std::string reason;
      try {
        // The image's own name for its errors, but our count of them: hence a private counter that is read
        // off.
        DecodeErrors own(images_[index].string());
        std::optional<SourceFrame> frame =
            open_stream(images_[index].string(), {options_, own, no_audio_, 0})->next();
        if (frame) {
          if (own.total() > 0) errors_.add_concealed();
          errors_.good();
          frame->time = static_cast<double>(index) / kRate;
          frame->name = images_[index].filename().string();
          return frame;
        }
        reason = own.last();
      } catch (const Error& error) {
        if (options_.stop && options_.stop->load()) return std::nullopt;
        reason = error.what();
      }
      errors_.add(reason.empty() ? "no picture in '" + images_[index].string() + "'" : reason);
    }
    return std::nullopt;
  }

  bool seek(double time) override {
    if (time > 0)
      next_ = static_cast<std::size_t>(std::min(time * kRate, static_cast<double>(images_.size())));
    return true;
  }

  StreamInfo info() const override {
    StreamInfo info;
    info.frame_rate = {kRate, 1};
    info.frames = static_cast<std::int64_t>(images_.size());
    info.duration = static_cast<double>(images_.size()) / kRate;
    info.codec = "images";
    return info;
  }

 private:
  const std::vector<fs::path> images_;
  ReadOptions options_;
  DecodeErrors& errors_;
  std::shared_ptr<AudioTrack> no_audio_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Source> open_folder(const std::string& folder, const SourceContext& context) {
  return std::make_unique<Folder>(folder, context);
}

}  // namespace sightline::media
