#pragma once
/// History of a run: its rate and operating point over time.

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "pipeline/session/trace.hpp"

namespace sightline::pipeline {

/// Takes the traces of a run, or of several one after the other. Keeps a number of points that does not grow
/// with the run: seconds at first, then two, four, and so on. Thread-safety: any thread.
class RunHistory : public TraceSink {
 public:
  void begin(const TraceInfo& info) override;
  void accept(const FrameTrace& trace) override;

  /// From one setting to the next.
  struct Turn {
    double seconds = 0;  ///< since the beginning, when the first frame of it was delivered
    int setting = 0;
  };
  struct Summary {
    double interval = 1;                   ///< seconds of each point of the rate
    double seconds = 0;                    ///< time of the last delivery
    std::vector<std::int64_t> frames;      ///< delivered, by interval
    std::vector<Turn> turns;               ///< the first is the beginning; at most kMostTurns, the first ones
    std::vector<OperatingPoint> settings;  ///< settings of the processor
  };
  Summary summary() const;

  static constexpr std::size_t kMostPoints = 1200;
  static constexpr std::size_t kMostTurns = 20'000;

 private:
  mutable std::mutex mutex_;
  bool begun_ = false;
  std::int64_t start_ = 0;
  Summary kept_;
};

}  // namespace sightline::pipeline
