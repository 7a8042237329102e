#pragma once
/// Parts of a video file that can be decoded independently.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "media/reader.hpp"

namespace sightline::media {

struct VideoPart {
  double begin = 0;         ///< time of its first frame, a key frame, in seconds (Frame::time)
  std::int64_t frames = 0;  ///< estimate
};

/// Division of a file. A part ends where the next begins: its frames are those from `begin` up to, but not
/// including, the next part's `begin`.
struct VideoParts {
  std::vector<VideoPart> parts;  ///< at least one; the first begins at 0
  std::string whole;             ///< reason why a long file has one part; empty otherwise
  bool is_picture = false;       ///< the file is a single picture
};

/// Divides a file at key frames from which every later frame is decoded as it is from the start: pictures
/// that no later picture looks past (IDR in H.264, IRAP in HEVC, key frames of MPEG-1, -2 and -4, VP8, VP9,
/// AV1 and of codecs without prediction). Reads the container's index and a packet per part, not the whole
/// file. Only MP4, MOV, Matroska and WebM have such an index; other files, and those with gaps in their edit
/// list, are one part.
/// @param length  smallest number of frames of all parts but the last; the first is counted from the last key
///                frame before `from`
/// @param from    seconds; only the first part begins before
/// @param until   seconds; no part begins behind, give or take a few frames
/// @throws Error (input) where the file cannot be opened
VideoParts divide_video(const std::string& file, const ReadOptions& options, std::int64_t length,
                        double from = 0, double until = std::numeric_limits<double>::infinity());

/// A frame at which two parts meet: equal edges are the same frame, decoded to the same luma.
struct FrameEdge {
  double time = 0;           ///< seconds
  std::uint64_t pixels = 0;  ///< hash of the luma
  friend bool operator==(const FrameEdge&, const FrameEdge&) = default;
};
FrameEdge edge_of(const Frame& frame);

/// Frames that were read one after the other, and the frames at which these meet others.
struct FrameSpan {
  std::int64_t frames = 0;         ///< numbers that they take, from 1
  std::optional<FrameEdge> first;  ///< the first one
  std::optional<FrameEdge> next;   ///< the frame behind the last one; none at the end of the input
};

}  // namespace sightline::media
