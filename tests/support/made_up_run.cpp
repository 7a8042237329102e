#include "support/made_up_run.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace sightline::pipeline::test {

std::vector<MadeUpFrame> simulate(const Plan& plan, int frames, std::int64_t start) {
  std::vector<std::int64_t> free(5, start);                // workers
  std::vector<std::int64_t> slot_free(plan.slots, start);  // delivery of the slot's last frame
  std::vector<MadeUpFrame> result(frames);
  std::uint32_t random = 1;
  struct Thread {  // a partition of a frame on its way
    int frame;
    const std::vector<Step>* steps;
    std::size_t next;
    std::int64_t ready;
  };
  std::vector<Thread> threads;
  std::vector<int> waits_for_device(frames, plan.device.empty() ? 0 : 1);
  std::int64_t delivered_before = start;
  int entered = 0;
  const auto enter = [&] {
    const int slot = entered % plan.slots;
    MadeUpFrame& frame = result[entered];
    frame.trace.frame = entered + 1;
    frame.trace.slot = slot;
    frame.trace.admitted = slot_free[slot];
    threads.push_back({entered, &plan.steps, 0, slot_free[slot]});
    ++entered;
  };
  while (entered < std::min(plan.slots, frames)) enter();
  while (!threads.empty()) {
    // The step that can start first.
    std::size_t best = threads.size();
    std::int64_t best_start = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < threads.size(); ++i) {
      const Thread& thread = threads[i];
      const bool joining = thread.steps == &plan.steps && thread.next + 2 == plan.steps.size();
      if (joining && waits_for_device[thread.frame]) continue;
      const Step& step = (*thread.steps)[thread.next];
      const int worker = step.worker() == 0 && free[1] < free[0] ? 1 : step.worker();
      std::int64_t possible = std::max(thread.ready, free[worker]);
      if (step.activity == Activity::output) possible = std::max(possible, delivered_before);
      if (possible < best_start) {
        best = i;
        best_start = possible;
      }
    }
    Thread& thread = threads[best];
    MadeUpFrame& frame = result[thread.frame];
    const Step& step = (*thread.steps)[thread.next];
    const int worker = step.worker() == 0 && free[1] < free[0] ? 1 : step.worker();
    random = random * 1664525 + 1013904223;
    const double jitter = 0.9 + 0.2 * (random >> 8) / (1 << 24);
    const auto length = static_cast<std::int64_t>(step.milliseconds * jitter * 1e6);
    Span span{step.activity, step.stage, step.processor, step.partition, best_start, best_start + length, 0};
    if (step.processor == 0 && step.activity == Activity::run) span.work = length * 2;
    if (best_start > thread.ready && step.activity == Activity::run)
      frame.spans.push_back(
          {Activity::wait, step.stage, step.processor, step.partition, thread.ready, best_start, 0});
    frame.spans.push_back(span);
    free[worker] = thread.ready = span.end;
    ++thread.next;
    const int number = thread.frame;
    const bool forks = thread.steps == &plan.steps && thread.next == plan.fork && !plan.device.empty();
    const bool ended = thread.next == thread.steps->size();
    if (ended && thread.steps == &plan.device) {
      waits_for_device[number] = 0;
      for (Thread& other : threads) {
        if (other.frame == number) other.ready = std::max(other.ready, span.end);
      }
    }
    if (ended && thread.steps == &plan.steps) {
      frame.trace.delivered = delivered_before = slot_free[frame.trace.slot] = span.end;
    }
    if (ended) threads.erase(threads.begin() + static_cast<std::ptrdiff_t>(best));
    if (forks) threads.push_back({number, &plan.device, 0, span.end});
    if (step.activity == Activity::output && entered < frames) enter();
  }
  for (MadeUpFrame& frame : result) {
    std::stable_sort(frame.spans.begin(), frame.spans.end(),
                     [](const Span& a, const Span& b) { return a.start < b.start; });
    frame.trace.slots_in_use =
        static_cast<int>(std::count_if(result.begin(), result.end(), [&](const MadeUpFrame& other) {
          return other.trace.admitted <= frame.trace.admitted && other.trace.delivered > frame.trace.admitted;
        }));
  }
  return result;
}

TraceInfo made_up_info(int slots) {
  return {{"pyramid", "filter", "histogram", "classify", "group"},
          {"CPU, 2 threads", "Made-up GPU"},
          {"clip.mp4"},
          slots,
          1'000'000'007};
}

std::vector<Plan> made_up_plans(double work) {
  const auto decode = Step{Activity::decode, 0, 0, 0, 1.9};
  const auto output = Step{Activity::output, 0, 0, 0, 0.4};
  const auto cpu = [](std::uint8_t stage, double ms) { return Step{Activity::run, stage, 0, 0, ms}; };
  const auto gpu = [](std::uint8_t stage, double ms, std::uint8_t partition = 0) {
    return Step{Activity::run, stage, 1, partition, ms};
  };
  const auto up = [](std::uint8_t stage, std::uint8_t partition = 0) {
    return Step{Activity::upload, stage, 1, partition, 0.6};
  };
  const auto down = [](std::uint8_t stage, double ms, std::uint8_t partition = 0) {
    return Step{Activity::download, stage, 1, partition, ms};
  };
  const std::vector<Step> specialized{
      decode,      up(0),       gpu(0, 0.8), gpu(1, 2.9 * work), gpu(2, 1.3 * work), down(2, 0.9),
      cpu(3, 2.6), cpu(4, 0.3), output};
  return {
      {"cpu",
       2,
       {decode, cpu(0, 1.7), cpu(1, 9.5 * work), cpu(2, 4.1 * work), cpu(3, 2.6), cpu(4, 0.3), output}},
      {"gpu",
       2,
       {decode, up(0), gpu(0, 0.8), gpu(1, 2.9 * work), gpu(2, 1.3 * work), gpu(3, 1.9), gpu(4, 0.2),
        down(4, 0.2), output}},
      {"specialized", 1, specialized},
      {"overlap", 4, specialized},
      {"split",
       3,
       {decode, cpu(0, 0.5), cpu(1, 2.1 * work), cpu(2, 0.9 * work), cpu(3, 2.6), cpu(4, 0.3), output},
       {up(0, 1), gpu(0, 0.6, 1), gpu(1, 2.2 * work, 1), gpu(2, 1.0 * work, 1), down(2, 0.7, 1)},
       1},
  };
}

}  // namespace sightline::pipeline::test
