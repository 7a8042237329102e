#pragma once
/// A run over a video file that several decoders read side by side.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "media/reader.hpp"
#include "pipeline/runs/parted_video.hpp"
#include "pipeline/session/pipeline.hpp"

namespace sightline::pipeline {

/// Threads of a CPU from which on several software decoders are faster than one that uses all threads.
inline constexpr int kThreadsForSeveralDecoders = 4;
/// Decoders that the first video begins with.
inline constexpr std::size_t kFirstDecoders = 2;

/// Whether an input may have several decoders: it is a regular file, and is read once.
bool may_have_several_decoders(const std::string& input, const media::ReadOptions& reading);

/// An input that is being read, to be searched by `run_in_parts`.
struct PartedInput {
  const media::ReadOptions& reading;  ///< with which `reader` was opened
  media::Reader& reader;              ///< of the file Stream::name, that Stream::source reads
  int in_flight = 0;                  ///< frames in flight, at most; 0: no limit
  VideoSelection selection = {};      ///< the frames that Stream::source delivers
};

/// A video file that is to be decoded.
struct FileToDecode {
  const std::string& name;
  const media::ReadOptions& reading;
  std::int64_t frames = 0;        ///< to be decoded, by estimation
  int threads = 1;                ///< of the CPU, that decoders may use
  int in_flight = 0;              ///< frames in flight, at most; 0: no limit
  VideoSelection selection = {};  ///< the frames that are searched
};
/// Decoders that read the parts of a file side by side.
struct DecoderTeam {
  std::vector<PartedVideo::Decoder> decoders;  ///< at most, those of a device first
  std::vector<media::VideoPart> parts;         ///< at least as many; none: one decoder reads the file
};
/// Team of `run_in_parts`; empty where one decoder is faster.
/// @param device  that decodes (Reader::device); empty: software does
DecoderTeam choose_decoders(const FileToDecode& file, const std::string& device);

struct PartedReport {
  RunReport run;
  /// The frames that Stream::source has not read, since several decoders have: none behind number `frames`.
  /// `first` is set if they begin with the first frame, `next` if they end with the last one that was wanted.
  media::FrameSpan in_parts;
};

/// As Pipeline::run, but decodes parts of a video side by side where that is faster: where the file may have
/// several decoders, the container has an index, and each decoder gets enough frames. Adds decoders while the
/// search waits for frames: up to four on the device that decodes (Reader::device), and with decoder
/// `software` or `auto` such of one thread each on the CPU (from kThreadsForSeveralDecoders on). The stream's
/// source reads everything else: frames until the device is tested, and all frames behind the place where a
/// part is damaged or does not meet the next one. Then the results of later parts are discarded, and the
/// reader goes on one or two parts before that place. Meanwhile, it has no decoder (Reader::continue_at).
///
/// Sinks get the results that they get from Pipeline::run, in the same order, but frames without pixels if
/// the file may have several decoders. The schedule has at least two frames in flight per decoder meanwhile.
/// @param decoders  to begin with (kFirstDecoders); set to the number that a similar video should begin with
PartedReport run_in_parts(Pipeline& pipeline, const Stream& stream, const PartedInput& input,
                          const RunOptions& options, std::size_t& decoders);

}  // namespace sightline::pipeline
