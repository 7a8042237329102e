// A frame's way: nodes of the graph, one for each stage on the CPU and one for each run of segments on
// devices, then back into order.
#include <algorithm>
#include <utility>

#include "pipeline/session/session_impl.hpp"

namespace sightline::pipeline {

namespace {

using Node = flow::function_node<Slot*, Slot*>;
using BackNode = flow::function_node<DevicePart*, Slot*>;

// Clears a result of any kind.
void clear_found(FrameResult& result) {
  result.objects.clear();
  result.output.reset();
}

void fail(Slot& slot, std::string_view why) noexcept {
  set_message(slot.cpu_error, why);
  slot.is_over = true;
}

// A node's work on a frame. An error ends the frame's search, not the graph.
template <typename Work>
Slot* guarded(Slot& slot, const Work& work) noexcept {
  try {
    return work(slot);
  } catch (const std::exception& e) {
    fail(slot, e.what());
  } catch (...) {
    fail(slot, "an unknown error");
  }
  return &slot;
}

}  // namespace

Slot::Slot(Program& owner, int number)
    : program(owner),
      index(number),
      workspace(owner.processor.make_workspace()),
      parts(owner.devices.size()) {
  spans.reserve(32);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].frame = this;
    parts[i].device = i;
    parts[i].spans.reserve(32);
  }
}

bool Slot::is_split() const {
  return plan->schedule.split > 0;
}

const DeviceStages& DevicePart::stages() const {
  return frame->program.devices[device];
}

Workspace& DevicePart::workspace() const {
  return frame->is_split() ? *partition : *frame->workspace;
}

// --- nodes -------------------------------------------------------------------------------------------------

// A node takes what the one before it emits: a frame, or null where the frame took another way.
void Session::Impl::build_nodes(Program& program, Plan& plan) {
  flow::sender<Slot*>* last = nullptr;
  const auto make = [&](auto body) -> Node& {
    auto node = std::make_unique<Node>(*graph_, flow::unlimited, std::move(body));
    Node& made = *node;
    plan.nodes.push_back(std::move(node));
    return made;
  };
  const auto then = [&](auto work) {
    Node& node = make([work](Slot* slot) { return slot && !slot->is_over ? guarded(*slot, work) : slot; });
    if (last) flow::make_edge(*last, node);
    last = &node;
    return &node;
  };
  const auto then_on_cpu = [&](std::size_t first, std::size_t end) {
    for (std::size_t stage = first; stage < end; ++stage) {
      then([this, stage, is_first = stage == first](Slot& slot) {
        run_on_cpu(slot, stage, is_first);
        return &slot;
      });
    }
  };
  // Frames whose search is over pass a device by, with any of their parts.
  const auto then_on_devices = [&](std::size_t segment) {
    auto node = std::make_unique<DeviceNode>(
        *graph_, flow::unlimited, [this, segment](Slot* slot, DeviceNode::gateway_type& gateway) {
          if (!slot) return;
          if (!slot->is_over) guarded(*slot, [&](Slot& one) { return submit(one, segment, gateway); });
          if (slot->is_over) gateway.try_put(&slot->parts.front());
        });
    auto back = std::make_unique<BackNode>(*graph_, flow::unlimited, [this](DevicePart* part) {
      Slot& slot = *part->frame;
      return slot.is_over ? &slot : guarded(slot, [&](Slot&) { return back_from_device(*part); });
    });
    flow::make_edge(*last, *node);
    flow::make_edge(*node, *back);
    last = back.get();
    plan.nodes.push_back(std::move(node));
    plan.nodes.push_back(std::move(back));
  };

  plan.begin = then([this](Slot& slot) { return begin(slot); });
  const std::size_t stages = program.processor.stages().size();
  if (plan.schedule.split > 0) {
    const std::size_t partitionable = program.processor.partitionable_stages();
    // The CPU's edge comes first: the task of the last edge runs at once, and devices should not wait.
    Node& on_cpu = make([this](Slot* slot) {
      if (slot && !slot->is_over) run_partition(*slot);
      return slot;
    });
    flow::make_edge(*last, on_cpu);
    then_on_devices(0);
    Node& join = make([this](Slot* slot) {
      if (!slot || slot->partitions_left.fetch_sub(1) > 1) return static_cast<Slot*>(nullptr);
      return slot->is_over ? slot : guarded(*slot, [&](Slot& one) { return merge(one); });
    });
    flow::make_edge(on_cpu, join);
    flow::make_edge(*last, join);
    last = &join;
    then_on_cpu(partitionable, stages);
  } else {
    for (std::size_t i = 0; i < plan.segments.size(); ++i) {
      const Segment& segment = plan.segments[i];
      if (!segment.on_device) {
        then_on_cpu(segment.first, segment.last);
      } else if (i == 0 || !plan.segments[i - 1].on_device) {
        then_on_devices(i);
      }
    }
  }
  Node& end = make([this](Slot* slot) {
    if (slot) finish(*slot);
    return static_cast<Slot*>(nullptr);
  });
  flow::make_edge(*last, end);
}

void Session::Impl::build_nodes(StreamState& s) {
  s.input =
      std::make_unique<flow::input_node<Slot*>>(*graph_, [this, &s](oneapi::tbb::flow_control& control) {
        bool goes_on = false;  // the node asks again anyway
        Slot* const slot = read_next(s, goes_on);
        if (!slot) control.stop();  // until `activate`
        return slot;
      });
  s.enter = std::make_unique<flow::function_node<Slot*>>(*graph_, flow::unlimited, [this](Slot* slot) {
    enter(*slot);
    return flow::continue_msg();
  });
  s.in_order = std::make_unique<flow::sequencer_node<Slot*>>(
      *graph_, [](Slot* slot) { return static_cast<std::size_t>(slot->sequence); });
  s.output = std::make_unique<flow::function_node<Slot*>>(*graph_, flow::serial, [this](Slot* slot) {
    deliver(*slot);
    return flow::continue_msg();
  });
  flow::make_edge(*s.input, *s.enter);
  flow::make_edge(*s.in_order, *s.output);
}

// --- the nodes' work ---------------------------------------------------------------------------------------

// Into the first node of the program's present schedule.
void Session::Impl::enter(Slot& slot) noexcept {
  FrameResult& result = slot.result;
  // First what cannot fail: a frame that fails below is reported under its own number.
  result.frame = slot.frame.number();
  result.time = slot.frame.time();
  result.width = slot.frame.size().width;
  result.height = slot.frame.size().height;
  result.status = FrameStatus::ok;
  clear_found(result);
  result.message.clear();
  slot.spans.clear();
  slot.cpu_error.clear();
  slot.is_over = false;
  for (DevicePart& part : slot.parts) part.begin();
  slot.plan = slot.program.plan;
  slot.ready = slot.decoded;
  guarded(slot, [this](Slot& one) {
    one.plan = plan_while_compiling(one.program);
    const auto settings = one.program.processor.operating_points();
    one.spans.push_back({Activity::decode, 0, 0, 0, one.admitted, one.decoded, 0});
    one.result.setting = settings.empty() ? std::string_view() : std::string_view(settings[one.setting].name);
    one.result.source = one.stream->stream.name;
    one.result.picture = one.frame.name();
    if (!one.frame.damage().empty()) fail(one, one.frame.damage());  // there are no pixels to search
    return &one;
  });
  slot.plan->begin->try_put(&slot);
}

// The program's present plan, without devices that still compile their kernels.
Plan* Session::Impl::plan_while_compiling(Program& program) {
  DeviceSet compiling;
  for (std::size_t i = 0; i < program.queues.size(); ++i) {
    try {
      compiling[i] = !program.queues[i]->lost() && !program.devices[i].is_ready();
    } catch (const std::exception& e) {
      program.queues[i]->disable(e.what());
    }
  }
  if (compiling.none()) return program.plan;
  const std::lock_guard lock(mutex_);
  return plan_for(program, program.plan.load()->schedule, compiling);
}

Slot* Session::Impl::begin(Slot& slot) {
  const Schedule& schedule = slot.plan->schedule;
  const FrameProcessor& processor = slot.program.processor;
  slot.partitions_left = 2;  // where the search is over before it is split
  slot.workspace->tuned = schedule.tuned;
  slot.workspace->setting = static_cast<int>(slot.setting);
  if (!processor.prepare(*slot.workspace, slot.frame.view(), {schedule.split, 1})) {
    slot.result.status = FrameStatus::skipped;
    slot.result.message = "the frame is smaller than the smallest object";
    slot.is_over = true;
    return &slot;
  }
  if (!schedule.uses_device()) return &slot;
  // Without the device that was lost, from the beginning.
  if (!deal(slot) || !prepare_devices(slot)) return retry(slot);
  if (slot.is_split()) {
    int partitions = 1;
    for (std::size_t i = 0; i < slot.parts.size(); ++i) partitions += takes_part(slot, i);
    slot.partitions_left = partitions;
  }
  return &slot;
}

// To the device that is expected to be done with it first: the one with the fewest frames, each taken for as
// long as frames have taken it lately. One of which nothing is known yet counts as the fastest. False where
// none of them is left.
bool Session::Impl::deal(Slot& slot) {
  if (slot.is_split() || slot.plan->dealt.none()) return true;
  const auto takes_part = [&](std::size_t device) {
    return slot.plan->dealt[device] && !slot.program.queues[device]->lost();
  };
  const std::vector<DispatchQueue*>& queues = slot.program.queues;
  const std::lock_guard lock(slot.program.deal_mutex);
  double fastest = 0;
  for (std::size_t i = 0; i < queues.size(); ++i) {
    const double seconds = queues[i]->seconds_a_frame();
    if (takes_part(i) && seconds > 0 && (fastest == 0 || seconds < fastest)) fastest = seconds;
  }
  double first = 0;
  for (std::size_t i = 0; i < queues.size(); ++i) {
    if (!takes_part(i)) continue;
    const double known = queues[i]->seconds_a_frame();
    const double seconds = known > 0 ? known : fastest > 0 ? fastest : 1;
    const double done = seconds * (queues[i]->load() + 1);
    if (slot.dealt != Slot::kNoDevice && done >= first) continue;
    slot.dealt = i;
    first = done;
  }
  if (slot.dealt == Slot::kNoDevice) return false;
  queues[slot.dealt]->add_load(1);
  for (std::size_t i = 0; i < queues.size(); ++i)
    if (i != slot.dealt && takes_part(i)) queues[i]->pass_over();
  return true;
}

void Session::Impl::leave_device(Slot& slot) {
  if (slot.dealt != Slot::kNoDevice)
    slot.program.queues[std::exchange(slot.dealt, Slot::kNoDevice)]->add_load(-1);
}

// Whether a device does something for the frame.
bool Session::Impl::takes_part(const Slot& slot, std::size_t device) {
  const Plan& plan = *slot.plan;
  if (slot.is_split())
    return plan.dealt[device] && plan.partitions[device].begin < plan.partitions[device].end;
  return device_stages(plan.schedule, slot.program.processor, device, slot.dealt).any();
}

// False where a device cannot: its part of the slot says why, and it is disabled.
bool Session::Impl::prepare_devices(Slot& slot) {
  const Schedule& schedule = slot.plan->schedule;
  const FrameProcessor& processor = slot.program.processor;
  for (DevicePart& part : slot.parts) {
    if (!takes_part(slot, part.device)) continue;
    try {
      if (schedule.split > 0) {
        if (!part.partition) part.partition = processor.make_workspace();
        part.partition->tuned = schedule.tuned;
        part.partition->setting = static_cast<int>(slot.setting);
        processor.prepare(*part.partition, slot.frame.view(), slot.plan->partitions[part.device]);
      }
      if (!part.slot) part.slot = part.stages().make_slot();
      part.mapping = device_stages(schedule, processor, part.device, slot.dealt);
      part.stages().prepare(*part.slot, part.workspace(), part.mapping);
    } catch (const std::exception& e) {
      set_message(part.error, e.what());
      slot.program.queues[part.device]->disable(part.error);
      return false;
    }
  }
  return true;
}

void Session::Impl::run_on_cpu(Slot& slot, std::size_t stage, bool waited) {
  const auto index = static_cast<std::uint8_t>(stage);
  const std::int64_t start = now_ns();
  slot.workspace->work.take();
  slot.program.processor.run_stage(stage, *slot.workspace);
  const std::int64_t end = now_ns();
  if (waited) slot.spans.push_back({Activity::wait, index, 0, 0, slot.ready, start, 0});
  const auto work = static_cast<std::int64_t>(1e9 * slot.workspace->work.take());
  slot.spans.push_back({Activity::run, index, 0, 0, start, end, work > 0 ? work : end - start});
  slot.ready = end;
}

// To the segment's device, with the segments behind it that run there: stages pinned to the frame's own
// device run with the rest. A split frame goes to all devices.
Slot* Session::Impl::submit(Slot& slot, std::size_t segment, DeviceNode::gateway_type& gateway) {
  const auto send = [&](std::size_t device, const Segment& work) {
    DevicePart& part = slot.parts[device];
    part.segment = work;
    part.gateway = &gateway;
    slot.program.queues[device]->submit(part);
  };
  if (slot.is_split()) {
    const Segment all{true, 0, slot.program.processor.partitionable_stages()};
    const std::size_t devices = slot.parts.size();
    for (std::size_t i = 0; i < devices; ++i) {
      if (takes_part(slot, i)) send(i, all);
    }
    return nullptr;
  }
  const std::vector<Segment>& segments = slot.plan->segments;
  Segment together = segments[segment];
  const std::size_t device = slot.device_of(together);
  for (; segment + 1 < segments.size(); ++segment) {
    const Segment& next = segments[segment + 1];
    if (!next.on_device || slot.device_of(next) != device) break;
    together.last = next.last;
  }
  slot.segment = segment;
  send(device, together);
  return nullptr;
}

Slot* Session::Impl::back_from_device(DevicePart& part) {
  Slot& slot = *part.frame;
  slot.program.queues[part.device]->complete(part);
  if (slot.is_split()) return &slot;
  if (!part.error.empty()) return retry(slot);
  slot.ready = now_ns();
  const std::size_t next = slot.segment + 1;
  if (next == slot.plan->segments.size() || !slot.plan->segments[next].on_device) return &slot;
  return submit(slot, next, *part.gateway);
}

// The CPU's partition of a split frame. Its devices are at work, so an error has to wait for them.
void Session::Impl::run_partition(Slot& slot) noexcept {
  try {
    if (slot.plan->schedule.split >= 1) return;
    const std::size_t end = slot.program.processor.partitionable_stages();
    for (std::size_t stage = 0; stage < end; ++stage) run_on_cpu(slot, stage, stage == 0);
  } catch (const std::exception& e) {
    set_message(slot.cpu_error, e.what());
  } catch (...) {
    set_message(slot.cpu_error, "an unknown error");
  }
}

// A split frame's partitions, once all are done.
Slot* Session::Impl::merge(Slot& slot) {
  if (std::ranges::any_of(slot.parts, [](const DevicePart& part) { return !part.error.empty(); }))
    return retry(slot);
  if (!slot.cpu_error.empty()) {
    slot.is_over = true;
    return &slot;
  }
  for (const DevicePart& part : slot.parts) {
    if (takes_part(slot, part.device)) slot.program.processor.merge(*slot.workspace, *part.partition);
  }
  slot.ready = now_ns();
  return &slot;
}

// A device has failed: without it, from the beginning.
Slot* Session::Impl::retry(Slot& slot) {
  leave_device(slot);
  for (DevicePart& part : slot.parts) {
    part.error.clear();
    part.failed = false;
    if (!std::exchange(part.abandoned, false)) continue;
    leak_deliberately(part.slot.release());  // the device may still write to them, for ever
    leak_deliberately(part.partition.release());
  }
  ++slot.stream->accounts->retried;
  slot.cpu_error.clear();
  slot.ready = now_ns();
  for (Span& span : slot.spans) span.work = 0;
  {
    const std::lock_guard lock(mutex_);
    slot.plan = plan_for(slot.program, slot.plan->schedule);
  }
  slot.plan->begin->try_put(&slot);
  return nullptr;
}

void Session::Impl::finish(Slot& slot) noexcept {
  leave_device(slot);
  if (!slot.is_over) {
    guarded(slot, [](Slot& one) {
      one.program.processor.take_result(*one.workspace, one.result);
      return &one;
    });
  }
  if (!slot.cpu_error.empty()) {
    slot.result.status = FrameStatus::failed;
    clear_found(slot.result);
    set_message(slot.result.message, slot.cpu_error);
  }
  slot.stream->in_order->try_put(&slot);
}

void Session::Impl::deliver(Slot& slot) noexcept {
  StreamState& s = *slot.stream;
  const Stream& stream = s.stream;
  const std::int64_t start = now_ns();
  try {
    const bool is_whole = !s.tiled || s.tiled->merge(slot.tile, slot.result);
    if (is_whole && s.tiled) slot.frame = std::exchange(slot.tile.whole, {});
    if (is_whole && !s.discards) {
      for (Sink* sink : stream.sinks) sink->accept(slot.frame, slot.result);
    }
    const std::int64_t end = now_ns();
    slot.spans.push_back({Activity::output, 0, 0, 0, start, end, end - start});
    s.spans.assign(slot.spans.begin(), slot.spans.end());
    for (const DevicePart& part : slot.parts)
      s.spans.insert(s.spans.end(), part.spans.begin(), part.spans.end());
    std::ranges::sort(s.spans, {}, &Span::start);
    FrameTrace trace;
    trace.frame = slot.result.frame;
    trace.source = stream.number;
    trace.slot = slot.index;
    trace.slots_in_use = slot.slots_in_use;
    trace.dropped = stream.source->dropped();
    trace.admitted = slot.admitted;
    trace.entered = slot.entered;
    trace.delivered = end;
    trace.status = slot.result.status;
    trace.ends_frame = is_whole;
    trace.setting = static_cast<int>(slot.setting);
    trace.spans = s.spans;
    Progress progress;
    {
      const std::lock_guard lock(s.accounts_mutex);
      if (is_whole) s.accounts->count(slot.result, trace.setting);
      s.accounts->add(trace);
      progress = s.accounts->progress();
    }
    if (!stream.traces.empty()) {
      const std::lock_guard lock(trace_mutex_);  // several streams deliver at once
      for (TraceSink* sink : stream.traces) sink->accept(trace);
    }
    if (is_whole && stream.on_progress && !s.discards) stream.on_progress(progress);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    end_with(s, std::current_exception(), false);
  }
  slot.frame = slot.tile.whole = Frame();  // back to the decoder's pool
  release(slot);
}

}  // namespace sightline::pipeline
