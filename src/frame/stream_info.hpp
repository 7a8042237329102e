#pragma once
/// Properties of a source, known before its frames are read.

#include <cstdint>
#include <optional>
#include <string>

#include "image/view.hpp"

namespace sightline {

/// A ratio, such as 30000/1001 frames a second.
struct Rational {
  int num = 0;
  int den = 1;
  double value() const { return den == 0 ? 0 : static_cast<double>(num) / den; }
  friend bool operator==(const Rational&, const Rational&) = default;
};

/// Colour description in the code points of ITU-T H.273 and FFmpeg; 2 is "unspecified".
struct ColorTags {
  int primaries = 2;
  int transfer = 2;
  int matrix = 2;  ///< 0 for RGB and gray sources; writers then choose BT.709 from 720 rows up, else BT.601
  bool full_range = false;  ///< for luma and chroma; always false for RGB and gray sources
};

struct StreamInfo {
  Size size;                           ///< size of the first frame; later ones may differ
  Rational frame_rate;                 ///< average, of the frames that are delivered (the source's / `every`)
  std::optional<std::int64_t> frames;  ///< estimated number; none if unknown or endless
  std::optional<double> duration;      ///< duration of the whole source in seconds, ignoring start and end
                                       ///< options
  std::string codec;                   ///< FFmpeg's name, such as "h264"
  std::string pixel_format;            ///< FFmpeg's name, such as "yuv420p"
  Rational sample_aspect{1, 1};        ///< width : height of a pixel
  ColorTags color;
  bool has_audio = false;
  bool is_pictures = false;  ///< a single picture or a folder of them: times and rates mean nothing
};

}  // namespace sightline
