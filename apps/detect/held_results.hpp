#pragma once
/// Internal to `detect`: results of an input that is searched beside those before it.

#include <utility>
#include <vector>

#include "pipeline/session/session.hpp"

namespace sightline::apps {

/// Keeps the results of an input until those of the inputs before it are written. Its memory grows with the
/// input. Thread-safety: one thread at a time.
class HeldResults : public pipeline::Sink {
 public:
  /// @param sinks  get the results, with empty frames; must outlive the object
  explicit HeldResults(std::vector<pipeline::Sink*> sinks) : sinks_(std::move(sinks)) {}
  void accept(const Frame&, const FrameResult& result) override { results_.push_back(result); }
  /// Passes on all results. Throws what the sinks throw.
  void release() {
    for (const FrameResult& result : std::exchange(results_, {})) {
      const Frame frame(nullptr, result.frame, result.time);
      for (pipeline::Sink* const sink : sinks_) sink->accept(frame, result);
    }
  }

 private:
  const std::vector<pipeline::Sink*> sinks_;
  std::vector<FrameResult> results_;
};

}  // namespace sightline::apps
