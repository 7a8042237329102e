#pragma once
/// A run of `detect` or `live` as a page.

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "apps/common/detector_engine.hpp"
#include "media/contact_sheet.hpp"
#include "pipeline/report/document.hpp"
#include "pipeline/session/pipeline.hpp"
#include "pipeline/session/run_history.hpp"

namespace sightline::apps {

/// What a run found, for its page: objects over time, tracks, and pictures with the most objects. Its memory
/// does not grow with the length of a run. Thread-safety: one thread at a time.
class RunFinds {
 public:
  /// @param has_one_input  a video has a time axis; several inputs are shown by their frames
  RunFinds(std::vector<std::string> labels, bool has_one_input);

  /// Adds one frame.
  /// @param input       number of the input that the frame is from, from 1
  /// @param is_picture  the frame is a picture, which has no time
  void add(std::size_t input, bool is_picture, const Frame& frame, const FrameResult& result);

  /// What the page shows of them; empty where nothing was searched.
  std::vector<report::Section> sections() const;

 private:
  struct Track {
    std::int64_t frames = 0;
    double first = 0, last = 0;
    std::string name;  ///< of a known person; otherwise empty
  };
  using TrackKey = std::tuple<std::size_t, int, std::int64_t>;  ///< input, label, identity
  struct Found {
    std::int64_t objects = 0, frames = 0, most = 0;
    std::vector<std::int64_t> over_time;  ///< the most in one frame, by interval
  };
  std::size_t point_at(double at);
  report::Chart chart() const;
  report::Table labels_table() const;
  report::Table tracks_table() const;

  std::vector<std::string> labels_;
  std::vector<Found> found_;  ///< by label
  std::map<TrackKey, Track> tracks_;
  media::ContactSheet best_;
  std::vector<std::int64_t> has_frame_;  ///< by interval: 1 where a frame was searched
  std::int64_t frames_ = 0;              ///< that were searched
  double interval_;                      ///< seconds, or frames
  bool is_by_time_;                      ///< one input with times; otherwise by frames
};

/// Hands each frame of one input to a RunFinds. The finds must outlive it.
class RunFindsSink : public pipeline::Sink {
 public:
  RunFindsSink(RunFinds& finds, std::size_t input, bool is_pictures)
      : finds_(finds), input_(input), is_pictures_(is_pictures) {}
  void accept(const Frame& frame, const FrameResult& result) override {
    finds_.add(input_, is_pictures_, frame, result);
  }

 private:
  RunFinds& finds_;
  const std::size_t input_;
  const bool is_pictures_;
};

/// A page of HTML that needs no other file, of a run that has ended: what was found, rate and setting over
/// time, the frames by setting, stage times.
/// @param input  name of the input, for people
/// @param finds  null where no input could be opened
/// @param more   further sections, after what was found
/// @param limit  what limited the rate, a line; empty: unknown
std::string run_page(const std::string& input, const DetectorEngine& engine,
                     const pipeline::Controller& controller, const pipeline::RunReport& report,
                     const pipeline::RunHistory& history, const RunFinds* finds,
                     std::vector<report::Section> more = {}, const std::string& limit = "");

/// Digest of the results of an input.
struct InputDigest {
  std::string input;
  std::string digits;
  bool is_whole = true;  ///< all frames of the input were searched

  /// The digits; after "incomplete" if they are of a part.
  std::string text() const;
};

report::Section digests_section(const std::vector<InputDigest>& digests);

}  // namespace sightline::apps
