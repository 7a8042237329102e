#pragma once
/// Implementations of one detector side by side: each searches the same pictures, one at a time.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frame/frame_result.hpp"
#include "image/view.hpp"
#include "pipeline/measurement/meter.hpp"
#include "pipeline/session/schedule.hpp"

namespace sightline::pipeline {

/// Searches one picture at a time, from pixels in host memory to the result. Keeps memory for the last size.
/// One thread at a time.
struct Search {
  /// Searches a picture without log messages. Throws Error (failed) and DeviceError.
  std::function<FrameResult(GrayView)> run;
  /// Seconds of parts of the last search, and of other ways to do the same, by name; may be empty.
  std::function<std::vector<std::pair<std::string, double>>()> parts = {};
};

/// Runs a frame processor by a schedule, which must not split frames. Throws DeviceError.
/// @param device   the schedule's device; null if it uses none. Processor and device must outlive the search
/// @param threads  CPU threads
Search search_by(const FrameProcessor& processor, const DeviceStages* device, const Schedule& schedule,
                 int threads);

/// One way of running the detector.
struct Implementation {
  std::string name;     ///< "compacted"
  std::string buffers;  ///< "copied" or "mapped", with a device
  std::string runs_on;  ///< for people: "CPU, 2 threads"
  bool is_ours = true;  ///< must find the same as all others of ours; false: another library's
  /// Makes what it needs besides pictures; called for every turn.
  std::function<Search()> make;
};

struct ExperimentPicture {
  std::string name;
  std::string group;
  Image<std::uint8_t> pixels;
};

struct ExperimentOptions {
  int repeats = 20;  ///< timed runs of each implementation on each picture
  /// Time for which a meter counts for each implementation and picture. Sensors are slow. 0: none counts.
  double energy_seconds = 1.5;
  MeterOptions meters;
  std::function<void(const std::string&)> progress;  ///< receives a line per step; may be empty
  const std::atomic<bool>* stop = nullptr;           ///< may be null
};

/// Times of one implementation for one picture.
struct PictureTimes {
  std::vector<double> seconds;  ///< of each run, in order
  std::int64_t objects = 0;
  std::optional<double> joules;         ///< a run
  std::map<std::string, double> parts;  ///< Search::parts, the least of the runs

  double fastest() const;
  double mean() const;
  double deviation() const;  ///< the sample's; 0 for one run
};

struct PictureResult {
  std::string name;
  std::string group;
  Size size;
  std::vector<PictureTimes> times;  ///< by implementation
};

/// Times of one implementation for a group of pictures.
struct GroupTimes {
  double seconds = 0;                   ///< geometric mean of the pictures' means
  double deviation = 0;                 ///< mean of the pictures' deviations, relative to their means
  std::int64_t objects = 0;             ///< in all pictures
  double speed_up = 0;                  ///< against the baseline; 0 where there is none
  std::optional<double> joules;         ///< a picture, geometric mean
  std::map<std::string, double> parts;  ///< seconds of a picture, mean
};

struct Experiment {
  std::string input;
  std::string model;    ///< the detector's description
  std::string program;  ///< version and instruction set
  std::string machine;
  std::string meter;                  ///< energy meter; empty: none
  std::string meter_note;             ///< why there is none, or what it covers
  std::vector<std::string> left_out;  ///< implementations that could not be measured, and why
  int repeats = 0;
  std::vector<Implementation> implementations;
  std::vector<PictureResult> pictures;  ///< in groups
  /// Index of the implementation that speed-ups are against: the first that is not ours, else the first.
  std::size_t baseline = 0;
  /// Differences between the objects of our implementations. Should be empty.
  std::vector<std::string> differences;

  /// In the order of the pictures.
  std::vector<std::string> groups() const;
  GroupTimes group_times(const std::string& group, std::size_t implementation) const;
  /// The fastest of ours in a group.
  std::size_t fastest(const std::string& group) const;
};

/// "compacted, mapped"
std::string name_of(const Implementation& implementation);

/// Measures the implementations, of which there must be one at least, on the pictures, which come in groups.
///
/// For each picture, they take turns of up to five runs after one to warm up, so that a change of the
/// machine's mood hits all of them alike, and only one at a time has memory for frames. Energy is counted
/// afterwards.
///
/// Fills all of the experiment that the pipeline knows: not input, model, program, machine, left_out. Where
/// `stop` was set: the pictures that are done by then, or an Error (failed) where there is none. Throws what
/// searching does.
Experiment run_experiment(std::vector<Implementation> implementations,
                          const std::vector<ExperimentPicture>& pictures, const ExperimentOptions& options);

}  // namespace sightline::pipeline
