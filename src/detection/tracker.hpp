#pragma once
/// Gives objects an identity over frames, bridges frames in which a detector misses them, and leaves out what
/// shows up only for a moment.

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "detection/assignment.hpp"
#include "detection/identity_pool.hpp"
#include "detection/kalman.hpp"
#include "detection/known_names.hpp"
#include "processing/frame_result.hpp"

namespace sightline {

struct TrackerOptions {
  /// Frames that must have shown an object before it is reported. 1 reports everything at once, and is what
  /// single pictures need.
  int min_hits = 3;
  /// Frames in a row that may miss an object that is not yet reported, before it is forgotten.
  int max_misses = 1;
  /// Seconds that an object's identity is kept while nothing is found of it.
  double max_lost = 1.0;
  /// Seconds of these during which its predicted box is reported, with a falling score. 0: only what was
  /// found in the frame itself is reported.
  double max_gap = 0.3;
  /// Least intersection over union of a predicted box and a found one that may belong together, above 0 to 1.
  double min_overlap = 0.3;
  /// Lowest score that begins a track. What scores less only continues one that is already reported. The
  /// default: everything begins one.
  double start_score = -std::numeric_limits<double>::infinity();
  /// Score to which a predicted box falls within `max_gap`: usually the detector's threshold.
  double lowest_score = 0;
  /// A pause of so many seconds, or time that goes backwards, ends all tracks.
  double max_pause = 3.0;
  /// Names that may be reported: a deleted person's name is gone from the next report on. Null: all names.
  std::shared_ptr<const KnownNames> names = nullptr;

  /// Noise of a coordinate, in the object's heights (its aspect ratio: in parts of itself), as standard
  /// deviations.
  struct Noise {
    double measurement;   ///< of a found box
    double acceleration;  ///< change of speed within a second, per second
    double speed;         ///< speed of a new object, per second
  };
  Noise place{0.03, 1.0, 1.0};  ///< of the centre
  Noise size{0.07, 0.1, 0.1};   ///< of height and aspect ratio
};

/// Follows the objects of one source.
///
/// SORT (A. Bewley et al., "Simple Online and Realtime Tracking", ICIP 2016): a Kalman filter for each object
/// predicts its box in the new frame, predicted and found boxes are paired so that the sum of their overlaps
/// is the largest, and what is left over begins new tracks. State and noise are those of DeepSORT (N. Wojke
/// et al., ICIP 2017): centre, aspect ratio and height, and noise in proportion to the height. Weakly found
/// objects only continue tracks (Y. Zhang et al., "ByteTrack", ECCV 2022), see TrackerOptions::start_score.
/// Unlike these, time is in seconds, so frames may be missing or come unevenly.
///
/// Reported are, by falling score (ties: the lower identity first), objects from their `min_hits`-th sighting
/// on: with the smoothed box and the found score where they were found, and, where not, for `max_gap` seconds
/// with the predicted box and a falling score, unless a found object covers at least half of it.
/// An object gets its identity when it is first reported: 1, 2, 3 and so on, never used again. Labels never
/// mix. Attributes are those that the object was last found with; its name is what all frames say together
/// (IdentityPool) unless the person was deleted meanwhile, and landmarks, which have a place in one frame
/// only, are left out where it was not found. Objects with an empty box, or a number that is not finite, are
/// passed over.
///
/// The result depends on the calls alone. In steady state nothing is allocated. Thread-safety: one thread at
/// a time.
class Tracker {
 public:
  /// Throws std::invalid_argument for options that make no sense.
  explicit Tracker(const TrackerOptions& options = {});

  /// Takes what was found in a frame and returns what is to be reported of it; valid until the next call. Do
  /// not call it for a frame that was not searched: that would count as a miss.
  /// @param time  of the frame in seconds, from any start; rises
  const std::vector<Detection>& update(double time, std::span<const Detection> objects);

  /// Prediction for a frame that was not searched, at a time after the last `update`: objects found in that
  /// update, with their scores and for `max_lost` seconds, and missing objects as above.
  /// Changes nothing but the returned buffer, which is valid until the next call, and forgets deleted names.
  const std::vector<Detection>& predict(double time);

  /// Tracks that are followed, reported or not.
  std::size_t tracks() const { return tracks_.size(); }

 private:
  struct Track {
    ConstantVelocity x, y, aspect, height;  ///< of the centre; width over height; pixels
    double score = 0;                       ///< when last found
    double seen = 0;                        ///< when last found, seconds
    int label = 0;
    int hits = 0;
    int misses = 0;
    std::int64_t id = 0;          ///< 0: not yet reported
    bool found = false;           ///< in this frame
    SharedAttributes attributes;  ///< of the object when it was last found, with the name from `identity`
    IdentityPool identity;
  };

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
  Assignment assignment_;
  std::vector<Track> tracks_;  ///< by age
  double time_ = 0;
  std::int64_t last_id_ = 0;

  std::vector<char> taken_;  ///< of each object of the frame: belongs to a track, or is no box
  std::vector<std::size_t> rows_, columns_;
  std::vector<double> costs_;
  std::vector<Detection> reported_;
};

}  // namespace sightline
