#pragma once
/// Draws detections into video pictures.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "frame/frame.hpp"
#include "frame/frame_result.hpp"
#include "drawing/canvas.hpp"
#include "image/view.hpp"

namespace sightline::media {

/// A picture in yuv420p: luma at full size, chroma at half (rounded up).
struct Yuv420View {
  ImageView<std::uint8_t> y;
  ImageView<std::uint8_t> u;
  ImageView<std::uint8_t> v;
  LumaRange range = LumaRange::limited;
  bool bt709 = false;  ///< the matrix: BT.709, else BT.601
};

/// The colour of a label, from a palette of ten that repeats.
Color label_color(int label);

/// The colour of an object: its track's if it has one, else its label's, from one palette; light gray for
/// unknown people.
Color color_of(const Detection& object);

/// "person 93%" with a confidence, else "person 1.23"; "#9" with a track, "face #9" if there are several
/// labels; "Ann 0.41" (name and distance) for a recognised person.
std::string caption_of(const Detection& object, std::span<const std::string> labels);

/// Short caption: "#9", "93%" or "1.23"; the name if there is none of them.
std::string short_caption_of(const Detection& object, std::span<const std::string> labels);

/// Whether the short caption is sufficient: all objects share one label, and this one has no name.
bool may_shorten_caption(const Detection& object, std::span<const std::string> labels);

/// Draws boxes with captions straight into YUV: an outline of 2 to 3 pixels at 1080 rows or fewer, with a tag
/// if CaptionPlaces has room. A tag much wider than its box is shortened if may_shorten_caption allows.
/// Drawing is clipped; boxes that are not finite, empty or entirely outside are skipped.
///
/// Keeps rasterised text between calls: reuse one object for a stream. Ten boxes on 1080 rows take well below
/// 1 ms. Thread-safety: one thread at a time. Errors: only Error (failed) if memory is exhausted.
class Annotator {
 public:
  void draw(const Yuv420View& picture, std::span<const Detection> objects,
            std::span<const std::string> labels);

 private:
  const TextMask& mask_of(const std::string& text, int size);

  std::map<std::pair<std::string, int>, TextMask> masks_;
};

}  // namespace sightline::media
