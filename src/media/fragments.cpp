#include "media/fragments.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/fault.hpp"
#include "media/file_io.hpp"

namespace sightline::media {
namespace {

// Copies the written stream's parameters, but the read stream's extra data, because the packets are read as
// well.
int copy_stream(const AVStream& read, const AVStream& written, AVFormatContext& output) {
  AVStream* const stream = avformat_new_stream(&output, nullptr);
  const CodecParametersPtr parameters(avcodec_parameters_alloc());
  if (!stream || !parameters) return AVERROR(ENOMEM);
  int result = avcodec_parameters_copy(parameters.get(), read.codecpar);
  if (result >= 0) result = avcodec_parameters_copy(stream->codecpar, written.codecpar);
  if (result < 0) return result;
  std::swap(stream->codecpar->extradata, parameters->extradata);
  std::swap(stream->codecpar->extradata_size, parameters->extradata_size);
  stream->sample_aspect_ratio = written.sample_aspect_ratio;
  stream->avg_frame_rate = written.avg_frame_rate;
  stream->time_base = written.time_base;
  stream->disposition = written.disposition;
  return 0;
}

// Holds back a packet of each stream: of the last one, fragments do not say how long it is.
class PacketCopy {
 public:
  PacketCopy(AVFormatContext& input, AVFormatContext& output)
      : input_(input), output_(output), held_(input.nb_streams) {}

  /// @return FFmpeg's code
  int run(const std::vector<double>& last_durations) {
    for (;;) {
      PacketPtr packet = make_av_packet();
      const int read = av_read_frame(&input_, packet.get());
      if (read == AVERROR_EOF) break;
      if (read < 0) return read;
      PacketPtr& held = held_[static_cast<std::size_t>(packet->stream_index)];
      const int result = held ? write(*held) : 0;
      if (result < 0) return result;
      held = std::move(packet);
    }
    if (input_.pb && input_.pb->error < 0) return input_.pb->error;
    for (std::size_t i = 0; i < held_.size(); ++i) {
      if (!held_[i]) continue;
      held_[i]->duration = std::llround(last_durations[i] / av_q2d(input_.streams[i]->time_base));
      const int result = write(*held_[i]);
      if (result < 0) return result;
    }
    return 0;
  }

 private:
  int write(AVPacket& packet) {
    const int index = packet.stream_index;
    av_packet_rescale_ts(&packet, input_.streams[index]->time_base, output_.streams[index]->time_base);
    packet.pos = -1;
    return av_interleaved_write_frame(&output_, &packet);
  }

  AVFormatContext& input_;
  AVFormatContext& output_;
  std::vector<PacketPtr> held_;
};

int copy(AVFormatContext& input, AVFormatContext& output, const std::vector<double>& last_durations) {
  int result = avformat_write_header(&output, nullptr);
  if (result < 0) return result;
  result = PacketCopy(input, output).run(last_durations);
  if (result < 0) return result;
  result = av_write_trailer(&output);
  if (result < 0) return result;
  avio_flush(output.pb);
  return std::min(output.pb->error, 0);
}

}  // namespace

bool is_mov(const AVOutputFormat& container) {
  return has_option(container, "movflags");
}

void write_in_fragments(Dictionary& options, int milliseconds, bool wait_for_times) {
  options.set("movflags",
              wait_for_times ? "delay_moov+default_base_moof" : "frag_keyframe+empty_moov+default_base_moof");
  options.set("frag_duration", std::to_string(milliseconds * 1000));
}

int join_fragments(int fragments, int to, const AVFormatContext& written,
                   const std::vector<double>& last_durations) {
  if (fault::strikes(fault::Kind::write, "join_fragments")) return AVERROR(ENOSPC);
  const FileIo from_file(fragments, FileIo::Access::read), to_file(to, FileIo::Access::write);
  AVFormatContext* raw = avformat_alloc_context();
  if (!raw) return AVERROR(ENOMEM);
  raw->pb = from_file.context();
  int result = avformat_open_input(&raw, nullptr, nullptr, nullptr);  // frees the context where it fails
  if (result < 0) return result;
  const InputContextPtr input(raw);
  if (input->nb_streams != written.nb_streams) return AVERROR_INVALIDDATA;
  result = avformat_alloc_output_context2(&raw, written.oformat, nullptr, nullptr);
  if (result < 0) return result;
  const OutputContextPtr output(raw);
  output->flags |= AVFMT_FLAG_CUSTOM_IO;
  output->pb = to_file.context();
  for (unsigned i = 0; i < input->nb_streams; ++i) {
    result = copy_stream(*input->streams[i], *written.streams[i], *output);
    if (result < 0) return result;
  }
  return copy(*input, *output, last_durations);
}

}  // namespace sightline::media
