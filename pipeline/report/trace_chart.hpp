#pragma once
/// Times of a run's steps along its frames, as a picture.

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "pipeline/report/trace_file.hpp"

namespace sightline::pipeline {

/// Milliseconds of each step of a frame along the frames, as SVG: a line for each stage and copy on each
/// processor, and for each of a stage's kernels on a device. Of frames that share commands, each has its
/// share. Keeps a number of points that does not grow with the run: frames at first, then means of two, four,
/// and so on. Thread-safety: none; one thread at a time, as TraceSink has it.
class TraceChart : public TraceFile {
 public:
  explicit TraceChart(std::filesystem::path path) : path_(std::move(path)) {}

  void begin(const TraceInfo& info) override { info_ = info; }
  void accept(const FrameTrace& trace) override;
  void finish() override;

  static constexpr std::size_t kMostPoints = 1000;

 private:
  /// Processor, stage, activity, and which one of these in a frame.
  using Key = std::tuple<int, int, Activity, int>;

  std::string name_of(const Key& key) const;
  void merge_points();

  std::filesystem::path path_;
  TraceInfo info_;
  std::map<Key, std::vector<double>> steps_;  ///< milliseconds by point; later points may be missing
  std::vector<int> frames_;                   ///< of each point
  int frames_per_point_ = 1;
};

}  // namespace sightline::pipeline
