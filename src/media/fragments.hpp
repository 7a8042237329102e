#pragma once
/// Internal to src/media: MP4 and MOV files in fragments, each with its own index, so that the file can be
/// played however writing ends. Players seek better in a file with a single index.

#include <vector>

#include "media/ffmpeg.hpp"

namespace sightline::media {

/// MP4, MOV and their kin, which can be written in fragments.
bool is_mov(const AVOutputFormat& container);

/// Makes a muxer write fragments of `milliseconds`, each with its index first.
/// @param wait_for_times  the file's head comes with the first fragment, and says at which time each stream
///                        begins; otherwise it comes at once, and times may all be a little later
void write_in_fragments(Dictionary& options, int milliseconds, bool wait_for_times);

/// Copies a file in fragments into one with a single index. Packets and their times stay as they are.
/// @param fragments, to   open files
/// @param written         writer of the fragments, with container and stream parameters
/// @param last_durations  duration of each stream's last packet, in seconds
/// @return FFmpeg's code; after an error, `to` is incomplete
int join_fragments(int fragments, int to, const AVFormatContext& written,
                   const std::vector<double>& last_durations);

}  // namespace sightline::media
