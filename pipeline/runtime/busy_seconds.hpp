#pragma once
/// Busy time of processors per frame, from traces.

#include "pipeline/runtime/trace.hpp"

namespace sightline::pipeline {

/// Summed over frames.
struct BusySeconds {
  double cpu = 0;     ///< core-seconds divided by threads
  double device = 0;  ///< sum over all devices

  void add(const FrameTrace& trace, int threads) {
    for (const Span& span : trace.spans) {
      if (span.activity != Activity::run) continue;
      if (span.processor == 0) {
        cpu += 1e-9 * static_cast<double>(span.work) / threads;
      } else {
        device += 1e-9 * static_cast<double>(span.end - span.start);
      }
    }
  }
};

}  // namespace sightline::pipeline
