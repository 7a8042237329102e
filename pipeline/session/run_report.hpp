#pragma once
/// Internal to the pipeline: sums over a stream's frames.

#include <chrono>

#include "pipeline/session/pipeline.hpp"

namespace sightline::pipeline {

/// Time in which devices worked, for one stream or several: work of several frames at once counts once. One
/// thread at a time.
class DeviceUse : public TraceSink {
 public:
  void begin(const TraceInfo& info) override;
  void accept(const FrameTrace& trace) override;
  /// Devices that had work.
  std::vector<DeviceTime> times() const;

 private:
  // Spans in order of time, which do not touch. Those of frames come nearly in order: early ones are
  // forgotten.
  struct Busy {
    std::vector<std::pair<std::int64_t, std::int64_t>> spans;
    std::int64_t until = 0;    ///< end of those that are forgotten
    std::int64_t covered = 0;  ///< their nanoseconds
    void add(std::int64_t start, std::int64_t end);
  };
  std::vector<std::string> processors_;
  std::vector<Busy> busy_;  ///< by processor; the CPU's stay empty
};

/// Counts and times of one stream. One thread at a time, but for `retried`.
class RunAccounts {
 public:
  explicit RunAccounts(const TraceInfo& info);

  /// Counts a frame.
  /// @param setting  FrameTrace::setting
  void count(const FrameResult& result, int setting);
  /// Adds the times of a frame, or of a tile.
  void add(const FrameTrace& trace);
  Progress progress() const;
  RunReport report() const;

  std::optional<std::int64_t> total;
  std::atomic<std::int64_t> retried{0};

 private:
  struct Account {
    double seconds = 0;
    double work = 0;
    std::vector<bool> processors;
  };
  void add(std::size_t account, const Span& span);
  double seconds() const;

  const TraceInfo& info_;
  RunReport counts_;
  DeviceUse use_;
  std::vector<Account> accounts_;  ///< decode, the processor's stages, upload, download, output
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sightline::pipeline
