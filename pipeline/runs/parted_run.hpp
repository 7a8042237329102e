#pragma once
/// A run over a video file that several decoders read side by side.

#include <cstddef>
#include <string>

#include "media/reader.hpp"
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
