#pragma once
/// One picture that shows a whole stream: a grid of frames with their detections.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "frame/frame.hpp"
#include "frame/frame_result.hpp"

namespace sightline::media {

/// Divides a stream of unknown length into equal spans, in bounded memory, and keeps of each the frame with
/// the most objects, reduced (the first of several): at twice the needed number, two spans become one.
///
/// Thread-safety: one thread at a time.
class ContactSheet {
 public:
  static constexpr int kMaxCount = 400;

  /// @param count       pictures on the sheet at most, 1..kMaxCount
  /// @param tile_width  of each, in pixels, 64..1920; the height follows from the first frame's proportions
  /// @throws Error (usage) for values out of range
  explicit ContactSheet(int count = 9, int tile_width = 560);
  ~ContactSheet();
  ContactSheet(ContactSheet&&) noexcept;
  ContactSheet& operator=(ContactSheet&&) noexcept;

  /// Offers the stream's next frame; cheap if it is not kept. Keeps no more than one frame of a span.
  void add(const Frame& frame, std::span<const Detection> objects, std::span<const std::string> labels);

  /// Frames offered so far.
  std::int64_t offered() const;

  /// The sheet as a PNG file: a title, and the frames with number, time and count of objects; pictures of a
  /// folder have their names. @throws Error (failed) if there was no frame
  std::string png(const std::string& title) const;
  /// Writes it. @throws Error (failed) as `png` does, and if the file cannot be written
  void write(const std::string& path, const std::string& title) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sightline::media
