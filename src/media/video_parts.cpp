#include "media/video_parts.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/fnv.hpp"
#include "media/access_point.hpp"
#include "media/secrets.hpp"
#include "media/stream_input.hpp"

namespace sightline::media {
namespace {

class Divider {
 public:
  Divider(const std::string& file, const ReadOptions& options)
      : input_(file, options), video_(video_of(file)) {
    base_ = start_of(input_.context(), *video_);
    rate_ = av_q2d(av_guess_frame_rate(&input_.context(), video_, nullptr));
  }

  VideoParts divide(std::int64_t length, double from, double until) {
    VideoParts result;
    result.is_picture = input_.is_single_image();
    const std::int64_t frames = result.is_picture ? 1 : this->frames();
    result.parts.push_back({0, frames});
    if (result.is_picture || frames <= length) return result;
    result.whole = add_parts(result.parts, frames, length, from, until);
    if (result.whole.empty() && result.parts.size() == 1 && frames > 2 * length)
      result.whole = "it has no key frames that decoding can begin at";
    if (!result.whole.empty()) result.parts = {{0, frames}};
    for (std::size_t i = 0; i + 1 < result.parts.size(); ++i)
      result.parts[i].frames = std::max<std::int64_t>(result.parts[i].frames - result.parts[i + 1].frames, 1);
    return result;
  }

 private:
  struct Key {
    std::int64_t number;  ///< of the frame, from 0
    std::int64_t stamp;   ///< in the index
    std::int64_t place;   ///< in the file; below 0: not known
  };

  AVStream* video_of(const std::string& file) {
    AVFormatContext& context = input_.context();
    const int best = best_video_stream(context);
    if (best < 0) throw Error(ExitCode::input, "'" + redacted(file) + "' has no video stream");
    for (unsigned i = 0; i < context.nb_streams; ++i)
      if (static_cast<int>(i) != best) context.streams[i]->discard = AVDISCARD_ALL;
    return context.streams[best];
  }

  bool is_matroska() const {
    return std::string_view(input_.context().iformat->name).starts_with("matroska");
  }

  std::int64_t frames() const {
    if (video_->nb_frames > 0) return video_->nb_frames;
    double seconds = static_cast<double>(std::max<std::int64_t>(input_.context().duration, 0)) / AV_TIME_BASE;
    if (video_->duration > 0) {
      seconds = static_cast<double>(video_->duration) * av_q2d(video_->time_base);
    } else if (is_matroska()) {  // whose duration counts from 0
      seconds -= static_cast<double>(base_) * av_q2d(video_->time_base);
    }
    return std::max<std::int64_t>(std::llround(std::min(seconds * rate_, 1e12)), 1);
  }

  double seconds(std::int64_t stamp) const {
    return static_cast<double>(stamp - base_) * av_q2d(video_->time_base);
  }

  /// Adds the parts behind the first; a part's `frames` counts those up to the end of the file. Returns why
  /// there are none.
  std::string add_parts(std::vector<VideoPart>& parts, std::int64_t frames, std::int64_t length, double from,
                        double until) {
    const bool is_mov = std::string_view(input_.context().iformat->name).starts_with("mov");
    if (!is_mov && !is_matroska())
      return "its container has no index that can be trusted; copy it into an MP4 or Matroska file";
    // FFmpeg reads Matroska's index at the first seek.
    if (!is_mov) av_seek_frame(&input_.context(), video_->index, base_, AVSEEK_FLAG_BACKWARD);
    const int entries = avformat_index_get_entries_count(video_);
    if (is_mov && entries < frames) return "it consists of fragments, which have no common index";
    std::int64_t left_out = 0, last_stamp = AV_NOPTS_VALUE;
    std::vector<Key> keys;  // apart, since seeking may change the index
    for (int i = 0; i < entries; ++i) {
      const AVIndexEntry& entry = *avformat_index_get_entry(video_, i);
      if (entry.flags & AVINDEX_DISCARD_FRAME) {
        if (keys.size() > 1) return "its edit list leaves out frames in the middle";
        ++left_out;
      }
      if (last_stamp != AV_NOPTS_VALUE && entry.timestamp <= last_stamp) return "its times go backwards";
      last_stamp = entry.timestamp;
      const std::int64_t number =
          is_mov ? i - left_out : std::llround(std::max(seconds(entry.timestamp), 0.0) * rate_);
      if (entry.flags & AVINDEX_KEYFRAME) keys.push_back({number, entry.timestamp, is_mov ? entry.pos : -1});
    }
    if (is_mov && entries > 0) {
      const AVIndexEntry& last = *avformat_index_get_entry(video_, entries - 1);
      if (last.pos + last.size > avio_size(input_.context().pb)) return "it is cut short";
    }
    parts.back().frames = frames -= left_out;
    std::int64_t before = 0;  // number of the last key frame that is not behind `from`
    for (const Key& key : keys) {
      if (seconds(key.stamp) <= from) before = key.number;
      const std::int64_t begun = std::max(frames - parts.back().frames, before);
      if (key.number - begun < length || key.number >= frames || seconds(key.stamp) >= until) continue;
      const std::optional<double> begin = time_of(key);
      if (!begin) continue;
      if (*begin <= parts.back().begin) return "its times go backwards";
      parts.push_back({*begin, frames - frames_before(key, *begin)});
    }
    return "";
  }

  /// Frames that are shown before a key frame. Leading pictures follow it in the file.
  std::int64_t frames_before(const Key& key, double begin) const {
    constexpr std::int64_t kMostLeading = 16;
    const double by_rate = begin * rate_;
    const std::int64_t number = std::llround(by_rate);
    const bool has_constant_rate = std::abs(by_rate - static_cast<double>(number)) < 0.05 &&
                                   number >= key.number && number <= key.number + kMostLeading;
    return has_constant_rate ? number : key.number;
  }

  /// Presentation time of a key frame; none if decoding cannot begin there.
  std::optional<double> time_of(const Key& key) {
    // Seeking uses presentation times, but MP4's index has decoding times, which are earlier.
    const auto frame = static_cast<std::int64_t>(1 / std::max(rate_, 1e-3) / av_q2d(video_->time_base));
    const PacketPtr packet = make_av_packet();
    for (const int later : {0, 1, 2, 3, 4, 6, 8, 16}) {
      if (av_seek_frame(&input_.context(), video_->index, key.stamp + later * frame, AVSEEK_FLAG_BACKWARD) <
          0)
        continue;
      if (!read_video(*packet)) continue;
      const bool is_there = key.place < 0 ? packet->pts == key.stamp : packet->pos == key.place;
      const bool is_good = is_there && packet->pts != AV_NOPTS_VALUE &&
                           access_point(*packet, *video_->codecpar) != AccessPoint::none;
      const double time = seconds(packet->pts);
      av_packet_unref(packet.get());
      if (is_good) return time;
      if (is_there || key.place < 0) break;
    }
    return std::nullopt;
  }

  bool read_video(AVPacket& packet) {
    while (input_.read(packet) >= 0) {
      if (packet.stream_index == video_->index) return true;
      av_packet_unref(&packet);
    }
    return false;
  }

  StreamInput input_;
  AVStream* video_;
  std::int64_t base_ = 0;
  double rate_ = 25;
};

}  // namespace

FrameEdge edge_of(const Frame& frame) {
  FrameEdge edge{frame.time(), kFnvSeed};
  if (frame.empty()) return edge;
  const Image<std::uint8_t> gray = to_gray(frame);
  for (int y = 0; y < gray.view().height(); ++y)
    edge.pixels = fnv1a(gray.view().row(y), static_cast<std::size_t>(gray.view().width()), edge.pixels);
  return edge;
}

VideoParts divide_video(const std::string& file, const ReadOptions& options, std::int64_t length, double from,
                        double until) {
  return Divider(file, options).divide(length, from, until);
}

}  // namespace sightline::media
