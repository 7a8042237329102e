#pragma once
/// The run behind the window of `sightline live`.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apps/detect/answer.hpp"
#include "apps/detect/run_page.hpp"
#include "apps/live/live_stream.hpp"
#include "pipeline/report/trace_file.hpp"
#include "pipeline/session/run_history.hpp"

namespace sightline::apps {

/// Searches the inputs of a live run, and writes what was found. An input that fails ends alone, where there
/// are several.
///
/// Thread-safety: one thread, which displays the results.
class LiveSession {
 public:
  /// Opens the sources, which then capture. Throws Error as the parts do.
  /// @param wake  called from any thread when a new picture can be shown or the run has ended
  LiveSession(LiveArguments arguments, std::function<void()> wake);
  /// Ends without the errors of the run.
  ~LiveSession();

  /// Opens the outputs and begins to search. Throws Error as the parts do.
  void begin();
  bool has_ended() const { return ended_; }
  /// Stops the run, waits for its end, and completes the recordings. Throws the run's error, if any.
  /// Otherwise completes the other outputs, and throws the first error of an input or, without one, of a
  /// recording.
  void finish();

  std::vector<std::unique_ptr<LiveStream>>& streams() { return streams_; }
  // Results of these functions, as text for the window:
  /// By index in pipeline::schedule_names(); any larger index selects `auto`.
  std::string choose_schedule(std::size_t index);
  /// Changes the operating point by so many steps: positive is faster, negative more accurate.
  std::string change_operating_point(int by);
  std::string follow_objective();

  const Detector& detector() const { return engine_.detector(); }
  /// Whether schedule `auto` is measuring; nothing is searched meanwhile.
  bool is_planning() const { return planning_; }
  pipeline::Schedule schedule() const { return pipeline_.pipeline().schedule(); }
  /// "auto: gpu" where schedule `auto` chose it.
  std::string schedule_name() const;
  /// "CPU", and the device's name where there is one.
  std::vector<std::string> processors() const;
  /// The detector's setting, and who chose it; empty where there is only one.
  std::string setting() const { return pipeline_.controller().operating_point_text(); }
  std::string setting_chosen_by() const { return pipeline_.controller().chosen_by(); }
  double seconds() const;

  /// How the run is doing: rates, latency, drops since the last one, memory. A line, and one for each of
  /// several inputs.
  std::vector<std::string> status_lines();
  /// The same in one line, for several inputs without what differs between them.
  std::string status_line();
  void summarise(bool is_verbose) const;

 private:
  void open_outputs();
  std::vector<std::unique_ptr<pipeline::Sink>> shared_sinks(std::size_t input);
  void search();
  bool run_once(const std::vector<pipeline::TraceSink*>& traces);
  void plan();
  std::vector<Frame> frames_to_plan() const;
  bool all_are_over() const;
  pipeline::RunReport total_report() const;
  std::string inputs_text() const;
  std::string end_of_status() const;

  LiveArguments a_;
  const std::function<void()> wake_;
  DetectorEngine engine_;
  Answer answer_;
  pipeline::EnginePipeline pipeline_;
  pipeline::RunHistory history_;
  std::optional<RunFinds> finds_;  ///< for the page
  std::unique_ptr<ResultWriter> results_;
  std::unique_ptr<pipeline::TraceFile> trace_;
  std::mutex sinks_mutex_;  ///< of those that all inputs share

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::atomic<bool> ends_{false};         ///< the run of the pipeline is to end
  std::atomic<bool> stops_{false};        ///< no other run is to follow
  std::atomic<bool> plan_wanted_{false};  ///< schedule `auto` is to measure before the next run
  std::mutex schedule_mutex_;
  std::atomic<bool> planning_{false};
  std::atomic<bool> plan_ends_{false};        ///< the planning in progress is to end
  std::optional<pipeline::Schedule> chosen_;  ///< by a key while planning; the last key counts
  std::atomic<bool> ended_{false};
  bool finished_ = false;
  std::exception_ptr error_;  ///< of the search thread, until that has ended
  // Last, for their threads use the others.
  std::vector<std::unique_ptr<LiveStream>> streams_;  ///< by input
  std::thread search_;
};

}  // namespace sightline::apps
