#pragma once
/// One input of a live run.

#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "apps/live/live_arguments.hpp"
#include "detection/detector.hpp"
#include "pipeline/session/display_mailbox.hpp"
#include "pipeline/session/live_source.hpp"
#include "pipeline/session/live_statistics.hpp"
#include "pipeline/session/pipeline.hpp"

namespace sightline::apps {

/// Captures an input on a thread of its own; counts, displays and records its frames. LiveSession searches
/// them.
///
/// Thread-safety: one thread, unless said otherwise.
class LiveStream {
 public:
  /// Opens the source, which then captures. Throws Error as LiveSource::start does.
  /// @param arguments  of the run; must outlive the object, as must the detector
  /// @param number     of the input, from 0
  /// @param wake       told when there is a new picture to show; from any thread
  LiveStream(const LiveArguments& arguments, std::size_t number, const Detector& detector,
             std::function<void()> wake);

  /// Prepares the stream with its sinks: display, recording and `shared`, behind a tracker if requested.
  /// @param shared  sinks of the session; they get the tracker's results
  void begin(std::vector<std::unique_ptr<pipeline::Sink>> shared, const std::optional<TileOptions>& tiles);
  /// For the pipeline; valid as long as the object.
  pipeline::Stream& stream() { return stream_; }
  /// Adds the report of a run of the pipeline.
  void add(const pipeline::RunReport& report);
  /// Whether no frame will come any more. The thread that adds reports.
  bool is_over() const;
  void stop() { source_->stop(); }
  /// Completes the recording; tells about it.
  void finish();

  void pause() { freeze(!source_->paused()); }
  /// Pauses, and lets one frame through.
  void step();
  // Results of these functions, as text for the window:
  std::string next_drop_policy();
  std::string switch_recording();
  /// Begins to save what is shown; `saved_picture` tells when it is done.
  std::string save_picture(const pipeline::Showable& shown);
  /// Message on the picture that was saved, or the reason why it was not; returned once.
  std::optional<std::string> saved_picture();

  const std::string& name() const { return input().name; }
  const std::string& short_name() const { return input().short_name; }
  pipeline::DisplayMailbox& mailbox() { return mailbox_; }
  pipeline::LiveStatistics& statistics() { return statistics_; }
  const pipeline::LiveSource& source() const { return *source_; }
  /// Frames per second of the source. With drop policy `none`, capture waits for the detector: then the rate
  /// that the source would have without waiting. Any thread.
  double rate() const;
  /// The last few frames. Any thread.
  std::vector<Frame> recent() const;
  std::optional<media::RecorderStatus> recording() const;
  /// Reason why the input failed for good; returned once.
  std::optional<std::string> new_failure();
  /// Of all runs of the pipeline that have ended. The thread that adds them, or after the last one.
  const pipeline::RunReport& report() const { return report_; }

  /// "in 25.0, detected 24.8 frames/s; latency ..., dropped ..." since the last one.
  std::string status_text();
  /// Lines on what was captured, shown and recorded in so many seconds.
  std::string summary(double seconds, bool is_verbose) const;

 private:
  class RecordSink;

  const LiveInputArguments& input() const { return a_.inputs[number_]; }
  void freeze(bool paused);
  void keep_recent(const Frame& frame);
  void start_recording();
  void record(const Frame& frame, const FrameResult& result);

  const LiveArguments& a_;
  const std::size_t number_;
  const Detector& detector_;
  pipeline::LiveStatistics statistics_;
  pipeline::DisplayMailbox mailbox_;
  std::vector<std::unique_ptr<pipeline::Sink>> sinks_;
  pipeline::Stream stream_;
  pipeline::RunReport report_;
  pipeline::CaptureCounts told_;  ///< in the last status line
  bool has_told_failure_ = false;

  mutable std::mutex recorder_mutex_;
  std::unique_ptr<media::Recorder> recorder_;
  std::future<std::string> saving_;

  mutable std::mutex recent_mutex_;
  std::vector<Frame> recent_;  ///< the last few captured, that schedule `auto` measures with

  std::unique_ptr<pipeline::LiveSource> source_;  ///< last: its thread uses the others
};

}  // namespace sightline::apps
