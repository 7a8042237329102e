#pragma once
/// The answer of a run of `detect` or `live`: what was found, in a line or two.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "detection/detector.hpp"
#include "pipeline/session/pipeline.hpp"

namespace sightline::apps {

/// Adds up what was found over all inputs. Its memory does not grow with the length of a run. Thread-safety:
/// one thread at a time.
class Answer {
 public:
  /// @param is_live  times are counted from the first frame: a source's own may be a clock's
  explicit Answer(const DetectorInfo& detector, bool is_live = false)
      : labels_(detector.labels),
        found_(labels_.size()),
        of_classes_(detector.classifies_frames),
        is_live_(is_live) {}

  /// Adds one frame.
  /// @param input       number of the input that the frame is from, from 1
  /// @param is_picture  the frame is a picture, which has no time
  void add(std::size_t input, bool is_picture, const FrameResult& result);

  /// A line for each label, "7 people (tracks), most in one frame: 5, from 0:03 to 1:12", and one for faces
  /// that were recognised, "9 faces named, 6 unknown". Of classes of whole pictures: "cat: 3 of 10 pictures".
  std::string text() const;
  /// The same in one line.
  std::string one_line() const;

 private:
  enum class Name { none, unknown, known };
  struct Track {
    Name name = Name::none;  ///< a track that was known once stays so
    double seen = 0;         ///< time in seconds
  };
  struct Found {
    std::int64_t objects = 0, frames = 0, most = 0;
    std::string most_picture;  ///< the picture with the most
    double first = 0, last = 0;
    std::int64_t tracks = 0, named = 0, unknown = 0;  ///< of these: tracks, and objects without a track
    std::map<std::pair<std::size_t, std::int64_t>, Track> recent;  ///< by input and identity
    std::size_t prune_at = 1000;                                   ///< size of `recent` at which it is pruned
  };
  void add_track(Found& found, std::size_t input, const Detection& object, double time);
  std::string line(const Found& found, const std::string& label) const;

  std::vector<std::string> labels_;
  std::vector<Found> found_;  ///< by label
  std::int64_t frames_ = 0;   ///< that were searched
  const bool of_classes_;     ///< of whole frames
  const bool is_live_;
  double start_ = 0;  ///< time that others are counted from
  bool only_pictures_ = true;
  bool several_inputs_ = false;
};

/// Hands each frame of one input to an Answer. The answer must outlive it.
class AnswerSink : public pipeline::Sink {
 public:
  AnswerSink(Answer& answer, std::size_t input, bool is_pictures)
      : answer_(answer), input_(input), is_pictures_(is_pictures) {}
  void accept(const Frame&, const FrameResult& result) override { answer_.add(input_, is_pictures_, result); }

 private:
  Answer& answer_;
  const std::size_t input_;
  const bool is_pictures_;
};

}  // namespace sightline::apps
