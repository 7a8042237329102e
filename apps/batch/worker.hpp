#pragma once
/// Computes parts of a job.

#include <memory>
#include <string>
#include <vector>

#include "apps/batch/job.hpp"

namespace sightline::apps::batch {

/// Thread-safety: one thread at a time.
class Worker {
 public:
  virtual ~Worker() = default;
  /// Computes a part into its file. Throws Error: (input) where the input cannot be read or has changed,
  /// (failed), and as PartWriter::finish.
  virtual void run(const Job::Place& place) = 0;
};

/// A worker of the job's kind. The process must be in the plan's folder.
/// @param schedule  words of schedule options (words_of)
/// Throws Error (usage, device, model): also where the model is not the one that the job was planned with.
std::unique_ptr<Worker> make_worker(const Job& job, const std::vector<std::string>& schedule, int verbosity);

}  // namespace sightline::apps::batch
