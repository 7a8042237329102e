#pragma once
/// Internal to `detect`: results of an input that is searched beside those before it.

#include <utility>
#include <vector>

#include "pipeline/session/sinks.hpp"

namespace sightline::apps {

/// Keeps the results of an input until those of the inputs before it are written. Its memory grows with the
/// input. Thread-safety: one thread at a time.
class HeldResults : public pipeline::Sink {
 public:
  /// @param sinks  get the results, with empty frames; must outlive the object
  explicit HeldResults(std::vector<pipeline::Sink*> sinks) : sinks_(std::move(sinks)) {}
  void accept(const Frame&, const FrameResult& result) override { results_.push_back(result); }
  /// Passes on all results. Throws what the sinks throw.
  void release() { pipeline::pass_on(std::exchange(results_, {}), sinks_); }

 private:
  const std::vector<pipeline::Sink*> sinks_;
  std::vector<FrameResult> results_;
};

}  // namespace sightline::apps
