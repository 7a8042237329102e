#pragma once
/// Arguments of `sightline live`, and the run behind its window.

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "apps/common/detector_options.hpp"
#include "apps/detect/answer.hpp"
#include "apps/detect/run_page.hpp"
#include "apps/detect/track_options.hpp"
#include "base/segment_limits.hpp"
#include "detection/result_writer.hpp"
#include "media/reader.hpp"
#include "media/recorder.hpp"
#include "pipeline/report/chrome_trace.hpp"
#include "pipeline/runtime/display_mailbox.hpp"
#include "pipeline/runtime/live_source.hpp"
#include "pipeline/runtime/live_statistics.hpp"
#include "pipeline/runtime/pipeline.hpp"
#include "pipeline/runtime/run_history.hpp"

namespace sightline::apps {

struct LiveArguments {
  std::string input;  ///< never empty
  DetectorOptions detector{kLiveConfig};
  TrackOptions tracking;
  media::ReadOptions reading;
  pipeline::LiveOptions capture;
  double duration = 0;  ///< seconds until the run ends; 0: no end

  bool headless = false;
  bool display_all = false;
  bool full_screen = false;
  bool software = false;
  bool vsync = false;
  std::string hud = "compact";

  media::RecordOptions recording;  ///< without a path: only when a key asks for it
  std::string detections;
  ResultFormat format = ResultFormat::jsonl;
  std::string trace;
  std::string report;
  double status_every = 0;  ///< seconds between lines that say how the run is doing; 0: none
};

/// Captures, searches, records and writes, on threads of its own.
///
/// Thread-safety: to be used from one thread, the one that shows what is found.
class LiveSession {
 public:
  /// Opens the source, which then captures. Throws Error as the parts do.
  /// @param wake  told when there is a new picture to show, or the run has ended; from any thread
  LiveSession(LiveArguments arguments, std::function<void()> wake);
  /// Ends without the errors of the run.
  ~LiveSession();

  /// Opens the outputs and begins to search. Throws Error as the parts do.
  void begin();
  bool has_ended() const { return ended_; }
  /// Stops, waits for everything, completes the outputs, and throws what the run or an output failed with.
  void finish();

  void pause() { freeze(!source_->paused()); }
  /// Pauses, and lets one frame through.
  void step();
  // Results of these functions, as text for the window:
  std::string next_drop_policy();
  std::string choose_schedule(std::size_t index);
  std::string switch_recording();
  /// By so many settings, to faster ones or (below 0) to more accurate ones.
  std::string change_operating_point(int by);
  std::string follow_objective();
  /// Begins to save what is shown; `saved_picture` tells when it is done.
  std::string save_picture(const pipeline::Showable& shown);
  /// Once, what became of a picture.
  std::optional<std::string> saved_picture();

  pipeline::DisplayMailbox& mailbox() { return mailbox_; }
  pipeline::LiveStatistics& statistics() { return statistics_; }
  const pipeline::LiveSource& source() const { return *source_; }
  const Detector& detector() const { return *engine_.detector; }
  /// Whether schedule `auto` is measuring; nothing is searched meanwhile.
  bool is_planning() const { return planning_; }
  pipeline::Schedule schedule() const { return pipeline_.schedule(); }
  /// "auto: gpu" where schedule `auto` chose it.
  std::string schedule_name() const;
  /// "CPU", and the device's name where there is one.
  std::vector<std::string> processors() const;
  /// The detector's setting, and who chose it; empty where there is only one.
  std::string setting() const { return controller_->operating_point_text(); }
  std::string setting_chosen_by() const { return controller_->chosen_by(); }
  std::optional<media::RecorderStatus> recording() const;
  double seconds() const;

  /// One line: rates, latency, drops since the last one, memory.
  std::string status_line();
  void summarise(bool is_verbose) const;

 private:
  class RecordSink;

  void open_source();
  void open_outputs();
  void search();
  void plan();
  void freeze(bool paused);
  void keep_recent(const Frame& frame);
  void start_recording();
  double source_rate() const;
  void record(const Frame& frame, const FrameResult& result);

  LiveArguments a_;
  const std::function<void()> wake_;
  Engine engine_;
  Answer answer_;
  pipeline::Pipeline pipeline_;
  std::unique_ptr<pipeline::Controller> controller_;
  pipeline::LiveStatistics statistics_;
  pipeline::DisplayMailbox mailbox_;
  pipeline::RunHistory history_;
  std::optional<RunFinds> finds_;  ///< for the page
  std::unique_ptr<ResultWriter> results_;
  std::unique_ptr<pipeline::ChromeTraceWriter> trace_;
  std::vector<std::unique_ptr<pipeline::Sink>> sinks_;
  pipeline::Stream stream_;

  mutable std::mutex recorder_mutex_;
  std::unique_ptr<media::Recorder> recorder_;
  bool record_from_start_ = false;
  std::future<std::string> saving_;

  std::mutex recent_mutex_;
  std::vector<Frame> recent_;  ///< the last few captured, that schedule `auto` measures with

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  pipeline::CaptureCounts told_;          ///< in the last status line
  std::atomic<bool> ends_{false};         ///< the run of the pipeline is to end
  std::atomic<bool> stops_{false};        ///< and none is to follow
  std::atomic<bool> plan_wanted_{false};  ///< before the next
  std::mutex schedule_mutex_;
  std::atomic<bool> planning_{false};
  std::atomic<bool> plan_ends_{false};        ///< the planning in progress is to end
  std::optional<pipeline::Schedule> chosen_;  ///< by a key while planning; the last key counts
  std::atomic<bool> ended_{false};
  bool finished_ = false;
  pipeline::RunReport report_;  ///< of the search thread, until that has ended
  std::exception_ptr error_;    ///< so is this
  // Last, for their threads use the others.
  std::unique_ptr<pipeline::LiveSource> source_;
  std::thread search_;
};

}  // namespace sightline::apps
