#pragma once
/// Internal to the pipeline: sums over a stream's frames.

#include <chrono>

#include "pipeline/session/pipeline.hpp"

namespace sightline::pipeline {

/// Counts and times of one stream. One thread at a time, but for `retried`.
class RunAccounts {
 public:
  explicit RunAccounts(const TraceInfo& info);

  void add(const FrameResult& result, const FrameTrace& trace);
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
  void add_busy(const Span& span);
  double seconds() const;

  const TraceInfo& info_;
  RunReport counts_;
  struct Busy {
    std::int64_t until = 0;    ///< end of the last span
    std::int64_t covered = 0;  ///< nanoseconds in which there was a span
  };
  std::vector<Busy> busy_;         ///< by processor; the CPU's stay 0
  std::vector<Account> accounts_;  ///< decode, the processor's stages, upload, download, output
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sightline::pipeline
