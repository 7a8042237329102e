#pragma once
/// Internal to src/media: MP4 and MOV files in fragments, each with an index of its own: what is written can
/// be played, however the writing ends. Players seek better in a file with one index for all of it.

#include <vector>

#include "media/ffmpeg.hpp"

namespace sightline::media {

/// MP4, MOV and their kin, which can be written in fragments.
bool is_mov(const AVOutputFormat& container);

/// Has a muxer that can do it write fragments of so many milliseconds, their index first.
/// @param wait_for_times  the file's head comes with the first fragment, and says at which time each stream
///                        begins; otherwise it comes at once, and times may all be a little later
void write_in_fragments(Dictionary& options, int milliseconds, bool wait_for_times);

/// Copies a file in fragments into one with a single index. Packets and their times stay as they are.
/// @param fragments, to   open files
/// @param written         what wrote the fragments: has the container and what the streams look like
/// @param last_durations  how long each stream's last packet is, in seconds
/// @return FFmpeg's code; where it is an error, `to` is not whole
int join_fragments(int fragments, int to, const AVFormatContext& written,
                   const std::vector<double>& last_durations);

}  // namespace sightline::media
