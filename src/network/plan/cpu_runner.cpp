#include "network/plan/cpu_runner.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/parallel.hpp"
#include "network/plan/arena.hpp"
#include "network/reference.hpp"

namespace sightline::nn {
namespace {

constexpr int kMostParticipants = 64;
constexpr int kSpins = 2000;  // before a thread that waits offers its processor

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

template <typename T>
void fill_with_zeros(AlignedBuffer<T>& buffer, std::int64_t count) {
  buffer.resize(static_cast<std::size_t>(count));
  std::fill_n(buffer.data(), buffer.size(), T{});
}

}  // namespace

CpuRunner::CpuRunner(const CpuPlan& plan, std::int64_t memory_limit)
    : plan_(plan),
      memory_limit_(memory_limit),
      memory_(plan.graph.tensors().size() + plan.copied.size(), nullptr) {
  fill_with_zeros(arena_, plan.arena_bytes);
  fill_with_zeros(zeros_, plan.zero_floats);
  const std::vector<int>& outputs = plan.graph.outputs();
  for (const int output : outputs) {
    outputs_.emplace_back(is_known(plan.graph.shape(output)) ? Tensor(plan.graph.type(output)) : Tensor());
    same_outputs_.push_back(static_cast<int>(std::ranges::find(outputs, output) - outputs.begin()));
  }
  placed_.assign(outputs.size(), nullptr);
  for (std::size_t i = 0; i < plan.copied.size(); ++i)
    copies_.emplace_back(plan.copied_outputs[i] == kNone ? Tensor(plan.graph.type(plan.copied[i]))
                                                         : Tensor());
  for (const auto& wave : plan.waves) {
    items_.emplace_back();
    for (const auto& work : wave) {
      for (int i = 0; i < work->items(); ++i) items_.back().push_back({work.get(), i});
    }
  }
  items_.emplace_back();
  for (const auto& work : plan.copies) {
    for (int i = 0; i < work->items(); ++i) items_.back().push_back({work.get(), i});
  }
  ends_.assign(items_.size(), 0);
  ends_of_last_ = tensors_that_end(plan.graph, plan.last_nodes);
}

std::byte* CpuRunner::copy_memory(std::size_t copy) {
  const int output = plan_.copied_outputs[copy];
  return (output == kNone ? copies_[copy] : outputs_[static_cast<std::size_t>(output)]).bytes().data();
}

void CpuRunner::bind(Inputs inputs) {
  const Graph& graph = plan_.graph;
  for (std::size_t t = 0; t < graph.tensors().size(); ++t) {
    const Storage& storage = plan_.storages[t];
    const Tensor* const constant = graph.tensors()[t].constant.get();
    memory_[t] = constant ? const_cast<std::byte*>(constant->bytes().data())  // NOLINT: is read
                 : storage.memory == Memory::arena ? arena_.data() + storage.offset
                                                   : nullptr;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    memory_[static_cast<std::size_t>(graph.inputs()[i])] =
        const_cast<std::byte*>(inputs[i]->bytes().data());  // NOLINT: is read
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (placed_[i]) outputs_[i] = placed_output(i);
    if (plan_.written_outputs[i] != kNone && same_outputs_[i] == static_cast<int>(i))
      memory_[static_cast<std::size_t>(plan_.written_outputs[i])] = outputs_[i].bytes().data();
  }
  for (std::size_t i = 0; i < copies_.size(); ++i) memory_[graph.tensors().size() + i] = copy_memory(i);
}

Tensor CpuRunner::placed_output(std::size_t i) const {
  return Tensor::over(plan_.graph.type(plan_.graph.outputs()[i]), placed_[i]);
}

void CpuRunner::divide(int participants) {
  participants_ = participants;
  next_ = std::vector<std::atomic<int>>(items_.size() * static_cast<std::size_t>(participants));
  done_ = std::vector<std::atomic<int>>(items_.size());
  own_ = std::vector<Own>(static_cast<std::size_t>(participants));
  for (Own& own : own_) fill_with_zeros(own.scratch, plan_.scratch_bytes);
}

const std::vector<Tensor>& CpuRunner::run(Inputs inputs, WorkMeter* meter) {
  const auto fits = [&](int tensor, const Tensor* value) {
    return value->type() == plan_.graph.type(tensor);
  };
  if (!std::ranges::equal(plan_.graph.inputs(), inputs, fits))
    throw std::logic_error("a plan runs with inputs of other types");
  bind(inputs);
  const int participants = std::clamp(oneapi::tbb::this_task_arena::max_concurrency(), 1, kMostParticipants);
  if (participants != participants_) divide(participants);
  for (std::atomic<int>& one : next_) one.store(0, std::memory_order_relaxed);
  for (std::atomic<int>& one : done_) one.store(0, std::memory_order_relaxed);
  failure_ = nullptr;
  has_failed_.store(false, std::memory_order_relaxed);
  begin_ = now();
  parallel_for_isolated(
      participants, [&](int i) { take_part(i); }, meter);
  if (failure_) std::rethrow_exception(failure_);
  run_last(inputs);
  return outputs_;
}

std::vector<double> CpuRunner::wave_seconds() const {
  std::vector<double> seconds;
  std::int64_t begin = begin_;
  for (const std::int64_t end : ends_) {
    seconds.push_back(end == 0 ? 0.0 : 1e-9 * static_cast<double>(end - begin));
    if (end != 0) begin = end;
  }
  return seconds;
}

// Threads that take part go through the waves one after the other. Each takes the items of its own band
// first, so that rows stay in its cache, and then those of others. It waits only for items that others have
// already begun; one that comes late finds nothing left to do. So no number of threads is needed.
void CpuRunner::take_part(int number) {
  Own& own = own_[static_cast<std::size_t>(number)];
  const WorkMemory memory{memory_.data(), own.scratch.data(), zeros_.data(), &own.spare, &own.kept};
  own.kept.forget();
  for (std::size_t wave = 0; wave < items_.size(); ++wave) {
    const auto count = static_cast<int>(items_[wave].size());
    for (int turn = 0; turn < participants_; ++turn) take_band(wave, (number + turn) % participants_, memory);
    for (int spins = 0; done_[wave].load(std::memory_order_acquire) < count; ++spins) {
      if (spins > kSpins) std::this_thread::yield();
    }
  }
}

void CpuRunner::take_band(std::size_t wave, int band, const WorkMemory& memory) {
  const std::vector<Item>& items = items_[wave];
  const auto count = static_cast<int>(items.size());
  const int begin = count * band / participants_, end = count * (band + 1) / participants_;
  std::atomic<int>& next =
      next_[wave * static_cast<std::size_t>(participants_) + static_cast<std::size_t>(band)];
  while (next.load(std::memory_order_relaxed) < end - begin) {
    const int i = begin + next.fetch_add(1, std::memory_order_relaxed);
    if (i >= end) break;
    run_item(items[static_cast<std::size_t>(i)], memory);
    // The time is taken before the item is counted, since the next wave starts then. Only an item that other
    // threads have overtaken meanwhile is the last one without looking so.
    const bool may_be_last = done_[wave].load(std::memory_order_relaxed) + participants_ >= count;
    const std::int64_t time = may_be_last ? now() : 0;
    if (done_[wave].fetch_add(1, std::memory_order_release) + 1 == count)
      ends_[wave] = may_be_last ? time : now();
  }
}

// After a failure, nothing runs: what it would read may not have been computed.
void CpuRunner::run_item(const Item& item, const WorkMemory& memory) {
  if (has_failed_.load(std::memory_order_acquire)) return;
  try {
    memory.spare->reset();
    item.work->run(item.item, memory);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    has_failed_.store(true, std::memory_order_release);
  }
}

// Nodes whose sizes the frame decides, one after the other.
void CpuRunner::run_last(Inputs inputs) {
  const Graph& graph = plan_.graph;
  if (!plan_.last_nodes.empty()) {
    last_made_.assign(graph.tensors().size(), Tensor());
    last_values_.assign(graph.tensors().size(), nullptr);
    for (std::size_t t = 0; t < last_values_.size(); ++t) last_values_[t] = graph.tensors()[t].constant.get();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      last_values_[static_cast<std::size_t>(graph.inputs()[i])] = inputs[i];
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      const int output = plan_.copied_outputs[i];
      last_values_[static_cast<std::size_t>(plan_.copied[i])] =
          output == kNone ? &copies_[i] : &outputs_[static_cast<std::size_t>(output)];
    }
    std::int64_t live = 0;
    for (std::size_t i = 0; i < plan_.last_nodes.size(); ++i) {
      run_last_node(graph.node(plan_.last_nodes[i]), live);
      for (const int tensor : ends_of_last_[i]) {
        Tensor& made = last_made_[static_cast<std::size_t>(tensor)];
        live -= bytes_of(made.type());
        made = Tensor();
      }
    }
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const auto same = static_cast<std::size_t>(same_outputs_[i]);
    const auto tensor = static_cast<std::size_t>(graph.outputs()[i]);
    if (same != i) {
      outputs_[i] = outputs_[same];
    } else if (plan_.tensors[tensor].is_last) {
      const bool is_input = graph.tensors()[tensor].maker == kNone;
      outputs_[i] = is_input ? *last_values_[tensor] : std::move(last_made_[tensor]);
    }
    if (!placed_[i] || outputs_[i].bytes().data() == placed_[i]) continue;
    std::ranges::copy(outputs_[i].bytes(), placed_[i]);
    outputs_[i] = placed_output(i);
  }
}

void CpuRunner::run_last_node(const GraphNode& node, std::int64_t& live) {
  std::vector<const Tensor*> operands;
  for (const int input : node.inputs) operands.push_back(last_values_[static_cast<std::size_t>(input)]);
  try {
    std::vector<Tensor> made = evaluate(node.primitive, operands);
    for (std::size_t i = 0; i < made.size(); ++i) {
      const auto number = static_cast<std::size_t>(node.outputs[i]);
      live += bytes_of(made[i].type());
      last_made_[number] = std::move(made[i]);
      last_values_[number] = &last_made_[number];
    }
    if (live > memory_limit_)
      throw Problem("needs more memory than the limit of " + std::to_string(memory_limit_ >> 20) + " MiB");
  } catch (const Problem& problem) {
    throw node_failure(node, problem);
  }
}

}  // namespace sightline::nn
