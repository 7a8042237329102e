#pragma once
/// Draws detections into video pictures.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "image/canvas.hpp"
#include "image/view.hpp"
#include "media/frame.hpp"
#include "processing/frame_result.hpp"

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

/// The colour of an object: its track's where it has one, from the same palette, else its label's; a light
/// gray for people who are unknown.
Color color_of(const Detection& object);

/// "person 93%" with a confidence, else "person 1.23"; "#9" with a track, "face #9" where there are several
/// labels; "Ann 0.41", a distance, for who is recognised.
std::string caption_of(const Detection& object, std::span<const std::string> labels);

/// The same where there is little room: "#9", "93%" or "1.23"; the name where there is none of them.
std::string short_caption_of(const Detection& object, std::span<const std::string> labels);

/// Whether a caption says nothing without which the picture is not understood, so that the short one will do:
/// all objects have one label, and this one no name of its own.
bool may_shorten_caption(const Detection& object, std::span<const std::string> labels);

/// Draws boxes with captions straight into YUV: an outline of 2 to 3 pixels at 1080 rows or fewer, a tag
/// beside it where CaptionPlaces has room; a tag much wider than its box leaves out what
/// may_shorten_caption says. What lies outside is clipped; boxes that are not finite, empty
/// or wholly outside are left out.
///
/// Keeps rasterised text between calls: reuse one object for a stream. Ten boxes on 1080 rows take well below
/// 1 ms. Thread-safety: one thread at a time. Errors: none (Error (failed) only where memory is out).
class Annotator {
 public:
  void draw(const Yuv420View& picture, std::span<const Detection> objects,
            std::span<const std::string> labels);

 private:
  const TextMask& mask_of(const std::string& text, int size);

  std::map<std::pair<std::string, int>, TextMask> masks_;
};

}  // namespace sightline::media
