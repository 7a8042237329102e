// Runs plans.
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "base/parallel.hpp"
#include "detectors/network/plan.hpp"

namespace sightline::network {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostParticipants = 64;
constexpr int kSpins = 2000;  // before a thread that waits offers its processor

// A piece of a chain: rows that one thread computes.
struct Item {
  const Chain* chain = nullptr;
  int begin = 0, end = 0;
};

// Threads that take part go through the levels one after the other. Each takes the items of its own band
// first, so that rows stay in its cache, and then those of others. It waits only for items that others have
// already begun; one that comes late finds nothing left to do. So no number of threads is needed.
class PlanRunner : public Runner {
 public:
  PlanRunner(const Graph& graph, const Plan& plan)
      : graph_(graph),
        plan_(plan),
        arena_(static_cast<std::size_t>(plan.pool_floats[kArenaPool])),
        zeros_(static_cast<std::size_t>(plan.zero_floats)),
        values_(graph.values.size()),
        shared_(plan.pool_floats.size() - kInputPool),
        pools_(plan.pool_floats.size(), nullptr) {
    std::fill_n(zeros_.data(), zeros_.size(), 0.0F);
    pools_[kArenaPool] = arena_.data();
    for (std::size_t i = 0; i < shared_.size(); ++i) shared_[i].plan(4 * plan.pool_floats[kInputPool + i]);
    for (const auto& [value, type] : plan.tensors) values_[static_cast<std::size_t>(value)].allocate(type);
    view_tensors(kArenaPool);
  }

  Tensor& input(std::size_t i) override { return tensor(graph_.inputs[i].value); }
  const Tensor& output(std::size_t i) override {
    const SharedTensor& constant = graph_.value(graph_.outputs[i]).constant;
    return constant ? *constant : tensor(graph_.outputs[i]);
  }
  std::span<InterStageBuffer> shared() override { return shared_; }
  std::size_t segments() const override { return plan_.segments.size(); }

  void run(std::size_t segment, WorkMeter* meter) override {
    segment_ = &plan_.segments[segment];
    bind(kFirstResultPool + static_cast<int>(segment));
    for (const int pool : segment_->reads) bind(pool);
    const int participants =
        std::clamp(oneapi::tbb::this_task_arena::max_concurrency(), 1, kMostParticipants);
    if (participants != participants_) divide(participants);
    for (std::atomic<int>& one : next_) one.store(0, std::memory_order_relaxed);
    for (std::atomic<int>& one : done_) one.store(0, std::memory_order_relaxed);
    failure_ = nullptr;
    has_failed_.store(false, std::memory_order_relaxed);
    parallel_for_isolated(
        participants, [&](int i) { take_part(i); }, meter);
    if (failure_) std::rethrow_exception(failure_);
  }

  std::vector<double> time_levels() override {
    ends_.resize(plan_.levels.size());
    std::vector<double> seconds;
    for (std::size_t i = 0; i < plan_.segments.size(); ++i) {
      Clock::time_point begin = Clock::now();
      run(i, nullptr);
      for (std::size_t level = segment_->first_level; level < segment_->last_level; ++level) {
        const Clock::time_point end = std::max(begin, ends_[level]);
        seconds.push_back(std::chrono::duration<double>(end - begin).count());
        begin = end;
      }
    }
    ends_.clear();
    return seconds;
  }

 private:
  // A thread's own memory.
  struct Own {
    AlignedBuffer<float> rows, spare;
    std::vector<float*> pointers, pools;
  };

  // Takes a pool's memory of this frame. Devices leave the ends of rows as they are.
  void bind(int pool) {
    const auto number = static_cast<std::size_t>(pool);
    pools_[number] = reinterpret_cast<float*>(shared_[number - kInputPool].data());
    view_tensors(pool);
    for (const Storage& s : plan_.storages) {
      if (s.pool == pool && s.pad > 0) clear_ends(s, pools_[number] + s.offset);
    }
  }
  void view_tensors(int pool) {
    for (const auto& [value, shared] : plan_.shared_tensors) {
      const Storage& s = plan_.storages[static_cast<std::size_t>(shared)];
      const auto number = static_cast<std::size_t>(value);
      if (s.pool == pool)
        values_[number] =
            Tensor::view(graph_.values[number].type, pools_[static_cast<std::size_t>(pool)] + s.offset);
    }
  }
  static void clear_ends(const Storage& s, float* row) {
    const std::int64_t floats = std::int64_t{s.pad} * s.lanes;
    for (std::int64_t y = 0; y < std::int64_t{s.blocks} * s.height; ++y, row += s.row_floats()) {
      std::fill_n(row, floats, 0.0F);
      std::fill_n(row + s.row_floats() - floats, floats, 0.0F);
    }
  }

  Tensor& tensor(int value) {
    for (const auto& [one, shared] : plan_.shared_tensors) {
      const int pool = plan_.storages[static_cast<std::size_t>(shared)].pool;
      if (one == value && pool >= kInputPool) bind(pool);
    }
    return values_[static_cast<std::size_t>(value)];
  }

  // Cuts levels into items for so many threads.
  void divide(int participants) {
    participants_ = 0;
    items_.assign(plan_.levels.size(), {});
    for (std::size_t l = 0; l < plan_.levels.size(); ++l) {
      for (const Chain& chain : plan_.levels[l].chains) {
        // A few items for each thread, so that none waits long for the last.
        const int rows = participants == 1 ? chain.height : std::max(1, chain.height / (participants * 6));
        for (int y = 0; y < chain.height; y += rows)
          items_[l].push_back({&chain, y, std::min(chain.height, y + rows)});
      }
    }
    next_ = std::vector<std::atomic<int>>(plan_.levels.size() * static_cast<std::size_t>(participants));
    done_ = std::vector<std::atomic<int>>(plan_.levels.size());
    own_.resize(static_cast<std::size_t>(participants));
    for (Own& own : own_) {
      own.rows.resize(static_cast<std::size_t>(plan_.pool_floats[kRowPool]));
      own.spare.resize(static_cast<std::size_t>(plan_.spare_floats));
      own.pointers.resize(plan_.pointers);
    }
    participants_ = participants;
  }

  void take_part(int number) {
    Own& own = own_[static_cast<std::size_t>(number)];
    own.pools = pools_;
    own.pools[kRowPool] = own.rows.data();
    const PlanMemory memory{own.pools.data(), zeros_.data(), &values_, own.pointers.data(), own.spare.data()};
    for (std::size_t level = segment_->first_level; level < segment_->last_level; ++level) {
      const auto count = static_cast<int>(items_[level].size());
      for (int turn = 0; turn < participants_; ++turn)
        take_band(level, (number + turn) % participants_, memory);
      for (int spins = 0; done_[level].load(std::memory_order_acquire) < count; ++spins) {
        if (spins > kSpins) std::this_thread::yield();
      }
    }
  }

  void take_band(std::size_t level, int band, const PlanMemory& memory) {
    const std::vector<Item>& items = items_[level];
    const auto count = static_cast<int>(items.size());
    const int begin = count * band / participants_, end = count * (band + 1) / participants_;
    std::atomic<int>& next =
        next_[level * static_cast<std::size_t>(participants_) + static_cast<std::size_t>(band)];
    while (next.load(std::memory_order_relaxed) < end - begin) {
      const int i = begin + next.fetch_add(1, std::memory_order_relaxed);
      if (i >= end) break;
      run_item(items[static_cast<std::size_t>(i)], memory);
      // The time is taken before the item is counted, so that the next level starts later.
      const Clock::time_point now = ends_.empty() ? Clock::time_point() : Clock::now();
      const bool is_last = done_[level].fetch_add(1, std::memory_order_release) + 1 == count;
      if (is_last && !ends_.empty()) ends_[level] = now;
    }
  }

  // After a failure, nothing runs: what it would read may have no memory.
  void run_item(const Item& item, const PlanMemory& memory) {
    if (has_failed_.load(std::memory_order_acquire)) return;
    try {
      for (int y = item.begin; y < item.end; ++y) {
        for (const ChainStep& one : item.chain->steps) one.step->run(memory, y);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      has_failed_.store(true, std::memory_order_release);
    }
  }

  const Graph& graph_;
  const Plan& plan_;
  AlignedBuffer<float> arena_, zeros_;
  std::vector<Tensor> values_;
  std::vector<InterStageBuffer> shared_;  // from kInputPool on
  std::vector<float*> pools_;             // by pool, but for rows; for the segment that runs
  const PlanSegment* segment_ = nullptr;
  int participants_ = 0;
  std::vector<std::vector<Item>> items_;  // by level
  std::vector<std::atomic<int>> next_;    // by level and band
  std::vector<std::atomic<int>> done_;    // by level
  std::vector<Clock::time_point> ends_;   // by level; empty unless levels are timed
  std::vector<Own> own_;
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::atomic<bool> has_failed_ = false;
};

}  // namespace

std::unique_ptr<Runner> make_plan_runner(const Graph& graph, const Plan& plan) {
  return std::make_unique<PlanRunner>(graph, plan);
}

}  // namespace sightline::network
