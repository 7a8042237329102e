#pragma once
/// Decoding of files as a stage of plans.

#include <cstddef>
#include <string>

#include "frame/stream_info.hpp"
#include "media/reader.hpp"
#include "pipeline/planning/planner.hpp"
#include "pipeline/runs/parted_video.hpp"

namespace sightline::pipeline {

/// A video file that a run decodes.
struct DecodedFile {
  std::string name;
  media::ReadOptions reading;
  StreamInfo info;                ///< of a reader with these options
  int threads = 1;                ///< as FileToDecode
  int in_flight = 0;              ///< as FileToDecode
  VideoSelection selection = {};  ///< as FileToDecode
  std::size_t beside = 0;  ///< files that are read side by side by one decoder each; 0: run_in_parts reads it
};

/// Decoding of the file by the decoders that the run has. Measures software with the threads of each, and,
/// where ReadOptions::decoder asks for a device, this device if it decodes the file. Opens the file again for
/// each.
InputDecoding decoding_of(DecodedFile file);

}  // namespace sightline::pipeline
