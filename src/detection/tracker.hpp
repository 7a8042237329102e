#pragma once
/// Multi-object tracker: gives objects an identity across frames, bridges missed detections, and drops
/// detections that appear only briefly.

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "frame/frame_result.hpp"

namespace sightline {

class Assignment;
class KnownNames;

struct TrackerOptions {
  /// Frames in which an object must be found before it is reported. 1: at once, as single pictures need.
  int min_hits = 3;
  /// Consecutive frames that may miss an object not yet reported before its track is deleted.
  int max_misses = 1;
  /// Time for which a reported object keeps its identity without being found, in seconds.
  double max_lost = 1.0;
  /// Time within `max_lost` for which the predicted box is reported, with a falling score, in seconds. 0:
  /// only objects found in the current frame are reported.
  double max_gap = 0.3;
  /// Minimum intersection over union for matching a predicted box with a found one, above 0, at most 1.
  double min_overlap = 0.3;
  /// Minimum score to begin a track. Objects below it only continue reported tracks. Default: every object
  /// begins a track.
  double start_score = -std::numeric_limits<double>::infinity();
  /// Score that a predicted box reaches after `max_gap`: usually the detector's threshold.
  double lowest_score = 0;
  /// Longest time between frames, in seconds. A longer gap, or time that goes backwards, ends all tracks.
  double max_pause = 3.0;
  /// Names that may be reported; names deleted from it disappear from the next report on. Null: all names.
  std::shared_ptr<const KnownNames> names = nullptr;

  /// Standard deviations of a coordinate's noise, relative to the object's height (for the aspect ratio,
  /// relative to its value).
  struct Noise {
    double measurement;   ///< noise of the detected box
    double acceleration;  ///< change of speed within one second, 1/s
    double speed;         ///< deviation of a new object's speed, 1/s
  };
  Noise place{0.03, 1.0, 1.0};  ///< noise of the centre
  Noise size{0.07, 0.1, 0.1};   ///< noise of height and aspect ratio
};

/// Follows the objects of one source.
///
/// SORT (A. Bewley et al., "Simple Online and Realtime Tracking", ICIP 2016): a Kalman filter for each object
/// predicts its box in the new frame. Predicted and found boxes are paired to maximise the sum of their
/// overlaps. Unpaired objects begin new tracks.
///
/// State and noise are those of DeepSORT (N. Wojke et al., ICIP 2017): centre, aspect ratio and height, with
/// noise proportional to the height. Objects with low scores only continue tracks (Y. Zhang et al.,
/// "ByteTrack", ECCV 2022); see TrackerOptions::start_score. Unlike in these papers, time is in seconds, so
/// frames may be missing or irregular.
/// Objects are reported from the frame in which they are found for the `min_hits`-th time, by falling score
/// (ties: lower identity first):
///   - found in this frame: smoothed box, found score;
///   - missed for at most `max_gap`: predicted box, falling score, unless a found object with the same label
///     covers at least half of the box.
///
/// The identity is given with the first report: 1, 2, 3, ..., never reused. Objects are matched only to
/// tracks with the same label. Attributes are the last found ones; landmarks are left out if the object is
/// not found in this frame. The name is pooled over all frames (IdentityPool) and disappears when the person
/// is deleted. Objects with an empty box or a non-finite number are ignored.
/// The result depends only on the sequence of calls. Steady state allocates nothing. Thread-safety: one
/// thread at a time.
class Tracker {
 public:
  /// Throws std::invalid_argument if an option is out of range.
  explicit Tracker(const TrackerOptions& options = {});
  ~Tracker();
  Tracker(Tracker&&) noexcept;
  Tracker& operator=(Tracker&&) noexcept;

  /// Adds the objects of a frame. Returns the objects to report, valid until the next call. Do not call it
  /// for a frame that was not searched, since that counts as a miss.
  /// @param time  time of the frame in seconds from any origin, increasing
  const std::vector<Detection>& update(double time, std::span<const Detection> objects);

  /// Predicts the objects of a frame that was not searched, at a time after the last `update`. Objects found
  /// in that update keep their scores and are reported for up to `max_lost`; missed objects are reported as
  /// above.
  /// Changes only the returned buffer, which is valid until the next call, and removes deleted names.
  const std::vector<Detection>& predict(double time);

  /// Whether each object of the last `update` or `predict` was predicted rather than found; valid until the
  /// next call.
  std::span<const char> predicted() const { return predicted_; }

  /// Number of current tracks, reported or not.
  std::size_t tracks() const;

 private:
  struct Track;

  Track begin(const Detection& object, double time) const;
  static void identify(Track& track, const Detection& object);
  void drop_forgotten_names();
  void advance(Track& track, double seconds) const;
  void correct(Track& track, const Detection& object, double time) const;
  void match(bool reported, bool strong, std::span<const Detection> objects, double time);
  void forget(double time);
  void report(double time, double ahead);
  static Box box_of(const Track& track, double ahead);

  TrackerOptions options_;
  std::unique_ptr<Assignment> assignment_;
  std::vector<Track> tracks_;  ///< oldest first
  double time_ = 0;
  std::int64_t last_id_ = 0;

  std::vector<char> taken_;  ///< objects of the frame that are matched or unusable
  std::vector<std::size_t> rows_, columns_;
  std::vector<double> costs_;
  std::vector<Detection> reported_;
  std::vector<char> predicted_;             ///< by reported object
  std::vector<std::int64_t> found_tracks_;  ///< ascending
};

}  // namespace sightline
