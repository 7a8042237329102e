#pragma once
/// A detector that proposes boxes while somebody marks them: searches pictures in a thread of its own.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apps/common/detector_engine.hpp"
#include "frame/frame.hpp"

namespace sightline::apps {

/// Works on one picture at a time, on the CPU. Thread-safety: all functions from one thread.
class LabelProposals {
 public:
  struct Answer {
    std::size_t picture = 0;
    std::vector<Detection> found;
    std::string problem;  ///< why there is none; empty where all is well
  };

  /// @param answered  called from the other thread where there is something to take
  LabelProposals(DetectorEngine engine, std::function<void()> answered);
  ~LabelProposals();
  LabelProposals(const LabelProposals&) = delete;
  LabelProposals& operator=(const LabelProposals&) = delete;

  /// Discards requests that have not begun.
  void ask(std::size_t picture, const Frame& frame);
  std::optional<Answer> take();
  bool is_busy() const;
  const std::vector<std::string>& labels() const { return engine_.detector().info().labels; }

 private:
  void work();

  struct Question {
    std::size_t picture;
    Frame frame;
  };
  DetectorEngine engine_;
  std::function<void()> answered_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Question> question_;
  std::vector<Answer> answers_;
  bool is_searching_ = false;
  bool is_over_ = false;
  std::thread thread_;  // last, so that all is there when it begins
};

}  // namespace sightline::apps
