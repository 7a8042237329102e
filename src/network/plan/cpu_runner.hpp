#pragma once
/// Runners: run a plan on the threads of the calling TBB arena.

#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include "base/work_meter.hpp"
#include "network/plan/cpu_plan.hpp"

namespace sightline::nn {

/// Runs a plan, frame by frame. Results do not depend on the number of threads.
/// Thread-safety: one run at a time.
class CpuRunner {
 public:
  /// @param plan          outlives the runner
  /// @param memory_limit  bytes of results of last nodes that are needed at once
  explicit CpuRunner(const CpuPlan& plan, std::int64_t memory_limit = std::int64_t{1} << 36);

  /// From the next run on, an output, whose sides are known, lies in memory of the caller's, aligned to 64
  /// bytes.
  void place_output(std::size_t i, std::byte* memory) { placed_[i] = memory; }

  /// Computes the outputs, which stay until the next run.
  /// @param inputs  in the graph's order, of its types
  /// @param meter   is told how long threads were busy; may be null
  /// Throws Error (ExitCode::failed) that names the node if values do not fit or the limit is reached.
  const std::vector<Tensor>& run(Inputs inputs, WorkMeter* meter = nullptr);

  /// Seconds of each wave of the last run; the last one copies outputs.
  std::vector<double> wave_seconds() const;

 private:
  struct Own {
    AlignedBuffer<std::byte> scratch;
    SpareMemory spare;
    KeptMemory kept;
  };
  struct Item {
    const Work* work;
    int item;
  };

  void bind(Inputs inputs);
  Tensor placed_output(std::size_t i) const;
  void divide(int participants);
  void take_part(int number);
  void take_band(std::size_t wave, int band, const WorkMemory& memory);
  void run_item(const Item& item, const WorkMemory& memory);
  std::byte* copy_memory(std::size_t copy);
  void run_last(Inputs inputs);
  void run_last_node(const GraphNode& node, std::int64_t& live);

  const CpuPlan& plan_;
  const std::int64_t memory_limit_;
  AlignedBuffer<std::byte> arena_;
  AlignedBuffer<float> zeros_;
  std::vector<Tensor> outputs_;
  std::vector<std::byte*> placed_;              ///< by output: memory of the caller's; null: none
  std::vector<int> same_outputs_;               ///< by output: the first one that is the same tensor
  std::vector<Tensor> copies_;                  ///< by copied tensor; empty where that is an output
  std::vector<std::byte*> memory_;              ///< by tensor, then by copy
  std::vector<std::vector<int>> ends_of_last_;  ///< by last node: tensors of theirs that none reads behind it
  std::vector<const Tensor*> last_values_;      ///< by tensor, while last nodes run
  std::vector<Tensor> last_made_;               ///< by tensor: what they make
  std::vector<std::vector<Item>> items_;        ///< by wave
  int participants_ = 0;
  std::vector<Own> own_;                ///< by participant
  std::vector<std::atomic<int>> next_;  ///< by wave and band
  std::vector<std::atomic<int>> done_;  ///< by wave
  std::vector<std::int64_t> ends_;      ///< by wave, in nanoseconds
  std::int64_t begin_ = 0;
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::atomic<bool> has_failed_ = false;
};

}  // namespace sightline::nn
