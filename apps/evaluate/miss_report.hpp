#pragma once
/// Report of `evaluate frames --misses` on missed objects.

#include <span>
#include <string>
#include <vector>

#include "evaluation/misses.hpp"
#include "frame/frame.hpp"

namespace sightline::apps {

/// Thread-safety: one thread at a time.
class MissReport {
 public:
  /// @param with_pictures  pictures of the worst misses are kept, for `write_sheet`
  MissReport(const MissOptions& options, bool with_pictures)
      : options_(options), with_pictures_(with_pictures) {}

  /// Adds a frame; see examine_misses.
  /// @param name  of the frame, for people
  void add(const Frame& frame, const std::string& name, std::span<const Detection> detections,
           std::span<const Detection> windows, std::span<const TruthBox> truth);

  /// A table: a line for each kind of object.
  std::string text() const;
  /// Writes a picture of the worst misses: whole people before covered ones, large ones before small ones.
  /// Marked boxes are green, the missed one's thick; the nearest window is red. Throws Error (failed).
  void write_sheet(const std::string& file) const;

 private:
  struct Tile {
    ExaminedObject object;
    std::string name;            ///< of the frame
    Image<std::uint8_t> pixels;  ///< luma around the object
    double x = 0, y = 0;         ///< of its first pixel, in the frame
    std::vector<Box> marked;     ///< that overlap it
  };
  void keep(const std::string& name, GrayView luma, const ExaminedObject& object,
            std::span<const TruthBox> truth);

  MissOptions options_;
  bool with_pictures_;
  std::vector<ExaminedObject> objects_;
  std::vector<Tile> worst_;  ///< sorted, the worst first
};

}  // namespace sightline::apps
