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

/// A video that is being read, to be searched by `run_in_parts`.
struct PartedInput {
  std::string file;
  media::ReadOptions reading;  ///< with which `reader` was opened
  media::Reader& reader;       ///< that Stream::source reads
  int threads = 1;             ///< of the CPU, that decoders may use
  int in_flight = 0;           ///< frames in flight, at most; 0: no limit
  std::size_t decoders = 2;    ///< to begin with, such as RunReport::sources of a similar video
};

/// Decoders that read the parts of a file side by side.
struct DecoderTeam {
  std::vector<PartedVideo::Decoder> decoders;  ///< at most, those of a device first
  std::vector<media::VideoPart> parts;         ///< at least as many; none: one decoder reads the file
};
/// Team of `run_in_parts`; empty where one decoder is faster.
/// @param frames     to be decoded, by estimation
/// @param device     that decodes (Reader::device); empty: software does
/// @param threads    as PartedInput
/// @param in_flight  as PartedInput
DecoderTeam choose_decoders(const std::string& file, const media::ReadOptions& reading, std::int64_t frames,
                            const std::string& device, int threads, int in_flight);

/// As Pipeline::run, but decodes parts of the file side by side where that is faster: where the container has
/// an index, and each decoder gets enough frames. Adds decoders while the search
/// waits for frames: up to four on the device that decodes (Reader::device), and with decoder `software` or
/// `auto` such of one thread each on the CPU (from kThreadsForSeveralDecoders on). The stream's source reads
/// everything else: frames until the device is tested, and all frames behind the place where a part is
/// damaged or does not meet the next one. Then the results of later parts are discarded.
///
/// Sinks get the results that they get from Pipeline::run, in the same order, but empty frames. The schedule
/// has at least two frames in flight per decoder meanwhile.
RunReport run_in_parts(Pipeline& pipeline, const Stream& stream, const PartedInput& input,
                       const RunOptions& options = {});

}  // namespace sightline::pipeline
