// Still pictures: single files, numbered ones, and those of a pipe.

#include <algorithm>
#include <utility>

#include "media/content_checks.hpp"
#include "media/decoding_source.hpp"

namespace sightline::media {
namespace {

class PictureSource final : public DecodingSource {
 public:
  PictureSource(std::unique_ptr<StreamInput> input, const SourceContext& context)
      : DecodingSource(std::move(input), context), is_single_(input_->is_single_image()) {
    // A JPEG that is cut short is damaged, not a picture with a gray end; other decoders say so by
    // themselves.
    open_decoder(is_single_ ? 1 : options_.threads,
                 is_single_ && video_->codecpar->codec_id == AV_CODEC_ID_MJPEG);
  }

  std::optional<SourceFrame> next() override {
    std::optional<WorkLimit> limit;
    if (is_single_) limit.emplace("decoding '" + name_ + "'", input_->limits_of_picture(options_.max_pixels));
    return DecodingSource::next();
  }

  /// Stays at the first picture: patterns and pipes have no index.
  bool seek(double) override { return true; }

  StreamInfo info() const override {
    StreamInfo info = DecodingSource::info();
    if (!is_single_) return info;
    info.frames = 1;
    info.duration.reset();
    info.is_pictures = true;
    return info;
  }

 private:
  void take(AVPacket& packet) override {
    const std::span<const std::uint8_t> content(packet.data, static_cast<std::size_t>(packet.size));
    if (is_single_ && !begins_as_first(content)) return;
    if (is_cut(content)) return note_error(AVERROR_INVALIDDATA);
    send(packet);
  }

  /// Programs append data of their own to a picture. Bytes behind its end are a picture, too, only if they
  /// begin as the first one does.
  bool begins_as_first(std::span<const std::uint8_t> content) {
    constexpr std::size_t kMagic = 4;
    const std::string head(reinterpret_cast<const char*>(content.data()), std::min(content.size(), kMagic));
    if (first_bytes_.empty()) first_bytes_ = head;
    return head == first_bytes_;
  }

  /// Some decoders make a picture of any beginning of its file.
  bool is_cut(std::span<const std::uint8_t> packet) {
    const PictureCheck check = picture_check(video_->codecpar->codec_id);
    if (!check) return false;
    if (std::string_view(input_->context().iformat->name) == "image2") return check(packet);  // a file
    if (is_single_ && !is_cut_) is_cut_ = check(input_->content_of_image());
    return is_cut_.value_or(false);
  }

  std::string explain(int code) override {
    if (is_single_ && !is_cut_.value_or(false)) input_->refuse_unsupported(code);
    return is_single_ && code == AVERROR_INVALIDDATA ? "the picture is damaged or cut short"
                                                     : error_text(code);
  }

  const bool is_single_;        // one file with one picture
  std::optional<bool> is_cut_;  // for a single picture, once known
  std::string first_bytes_;     // of its file
};

}  // namespace

std::unique_ptr<Source> open_pictures(std::unique_ptr<StreamInput> input, const SourceContext& context) {
  return std::make_unique<PictureSource>(std::move(input), context);
}

}  // namespace sightline::media
