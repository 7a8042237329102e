// A frame's way through the graph: the segments of its schedule, then back into order.
#include <algorithm>

#include "pipeline/runtime/pipeline_impl.hpp"

namespace sightline::pipeline {

namespace {

// Clears a result of any kind.
void clear_found(FrameResult& result) {
  result.objects.clear();
  result.output.reset();
}

}  // namespace

void Pipeline::Impl::step(Token token) {
  Slot& slot = *token.slot;
  try {
    token.device == Token::kBegins ? begin(slot)
                                   : back_from_device(slot, static_cast<std::size_t>(token.device));
  } catch (const std::exception& e) {
    set_message(slot.cpu_error, e.what());
    finish(slot);
  } catch (...) {
    set_message(slot.cpu_error, "an unknown error");
    finish(slot);
  }
}

void Pipeline::Impl::begin(Slot& slot) {
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
  for (DevicePart& part : slot.parts) part.begin();
  slot.spans.push_back({Activity::decode, 0, 0, 0, slot.admitted, slot.decoded, 0});
  slot.ready = slot.decoded;
  slot.plan = plan_;
  slot.setting = setting_;
  const auto settings = processor_.operating_points();
  result.setting = settings.empty() ? std::string_view() : std::string_view(settings[slot.setting].name);
  result.source = slot.stream->stream->name;
  result.picture = slot.frame.name();
  if (slot.frame.damage().empty()) return search(slot);
  slot.cpu_error = slot.frame.damage();  // there are no pixels to search
  finish(slot);
}

// From the first stage on, by the slot's plan.
void Pipeline::Impl::search(Slot& slot) {
  slot.cpu_error.clear();
  slot.segment = 0;
  const Schedule& schedule = slot.plan->schedule;
  slot.workspace->tuned = schedule.tuned;
  slot.workspace->setting = static_cast<int>(slot.setting);
  if (!processor_.prepare(*slot.workspace, slot.frame.view(), {schedule.split, 1})) {
    slot.result.status = FrameStatus::skipped;
    slot.result.message = "the frame is smaller than the smallest object";
    finish(slot);
    return;
  }
  if (schedule.uses_device()) {
    if (!deal(slot)) {  // the last one has just been lost
      replan(slot);
      search(slot);
      return;
    }
    if (!prepare_devices(slot)) {
      retry(slot);
      return;
    }
  }
  schedule.split > 0 ? run_split(slot) : run_segments(slot);
}

// To the device that is expected to be done with it first: the one with the fewest frames, each taken for as
// long as frames have taken it lately. One of which nothing is known yet counts as the fastest. False where
// none of them is left.
bool Pipeline::Impl::deal(Slot& slot) {
  if (slot.is_split() || slot.plan->dealt.none()) return true;
  const auto takes_part = [&](std::size_t device) {
    return slot.plan->dealt[device] && !dispatch_queues_[device]->lost();
  };
  const std::lock_guard lock(deal_mutex_);
  double fastest = 0;
  for (std::size_t i = 0; i < dispatch_queues_.size(); ++i) {
    const double seconds = dispatch_queues_[i]->seconds_a_frame();
    if (takes_part(i) && seconds > 0 && (fastest == 0 || seconds < fastest)) fastest = seconds;
  }
  double first = 0;
  for (std::size_t i = 0; i < dispatch_queues_.size(); ++i) {
    if (!takes_part(i)) continue;
    const double known = dispatch_queues_[i]->seconds_a_frame();
    const double seconds = known > 0 ? known : fastest > 0 ? fastest : 1;
    const double done = seconds * (dispatch_queues_[i]->load() + 1);
    if (slot.dealt != Slot::kNoDevice && done >= first) continue;
    slot.dealt = i;
    first = done;
  }
  if (slot.dealt == Slot::kNoDevice) return false;
  dispatch_queues_[slot.dealt]->add_load(1);
  return true;
}

void Pipeline::Impl::leave_device(Slot& slot) {
  if (slot.dealt != Slot::kNoDevice)
    dispatch_queues_[std::exchange(slot.dealt, Slot::kNoDevice)]->add_load(-1);
}

// Whether a device does something for the frame.
bool Pipeline::Impl::takes_part(const Slot& slot, std::size_t device) const {
  const Plan& plan = *slot.plan;
  if (slot.is_split())
    return plan.dealt[device] && plan.partitions[device].begin < plan.partitions[device].end;
  return device_stages(plan.schedule, processor_, device, slot.dealt).any();
}

// False where a device cannot: its part of the slot says why, and it is disabled.
bool Pipeline::Impl::prepare_devices(Slot& slot) {
  const Schedule& schedule = slot.plan->schedule;
  for (std::size_t i = 0; i < dispatch_queues_.size(); ++i) {
    if (!takes_part(slot, i)) continue;
    DevicePart& part = slot.parts[i];
    try {
      if (schedule.split > 0) {
        if (!part.partition) part.partition = processor_.make_workspace();
        part.partition->tuned = schedule.tuned;
        part.partition->setting = static_cast<int>(slot.setting);
        processor_.prepare(*part.partition, slot.frame.view(), slot.plan->partitions[i]);
      }
      if (!part.slot) part.slot = devices_[i].make_slot();
      devices_[i].prepare(*part.slot, slot.device_workspace(i),
                          device_stages(schedule, processor_, i, slot.dealt));
    } catch (const std::exception& e) {
      set_message(part.error, e.what());
      dispatch_queues_[i]->disable(part.error);
      return false;
    }
  }
  return true;
}

void Pipeline::Impl::run_segments(Slot& slot) {
  const std::vector<Segment>& segments = slot.plan->segments;
  for (; slot.segment < segments.size(); ++slot.segment) {
    const Segment& segment = segments[slot.segment];
    if (segment.on_device) {
      slot.handed = segment;
      const std::size_t device = slot.device_of(segment);
      // Stages pinned to the frame's own device run with the rest.
      for (; slot.segment + 1 < segments.size(); ++slot.segment) {
        const Segment& next = segments[slot.segment + 1];
        if (!next.on_device || slot.device_of(next) != device) break;
        slot.handed.last = next.last;
      }
      dispatch_queues_[device]->hand_over(slot);
      return;  // back_from_device goes on
    }
    run_on_cpu(slot, segment.first, segment.last);
  }
  finish(slot);
}

void Pipeline::Impl::run_split(Slot& slot) {
  int partitions = 1;
  for (std::size_t i = 0; i < dispatch_queues_.size(); ++i) partitions += takes_part(slot, i);
  slot.partitions_left = partitions;
  for (std::size_t i = 0; i < dispatch_queues_.size(); ++i) {
    if (takes_part(slot, i)) dispatch_queues_[i]->hand_over(slot);
  }
  try {
    if (slot.plan->schedule.split < 1) run_on_cpu(slot, 0, processor_.partitionable_stages());
  } catch (const std::exception& e) {
    set_message(slot.cpu_error, e.what());
  } catch (...) {
    set_message(slot.cpu_error, "an unknown error");
  }
  partition_done(slot);
}

void Pipeline::Impl::run_on_cpu(Slot& slot, std::size_t first, std::size_t last) {
  for (std::size_t stage = first; stage < last; ++stage) {
    const auto index = static_cast<std::uint8_t>(stage);
    const std::int64_t start = now_ns();
    slot.workspace->work.take();
    processor_.run_stage(stage, *slot.workspace);
    const std::int64_t end = now_ns();
    if (stage == first) slot.spans.push_back({Activity::wait, index, 0, 0, slot.ready, start, 0});
    const auto work = static_cast<std::int64_t>(1e9 * slot.workspace->work.take());
    slot.spans.push_back({Activity::run, index, 0, 0, start, end, work > 0 ? work : end - start});
    slot.ready = end;
  }
}

void Pipeline::Impl::back_from_device(Slot& slot, std::size_t device) {
  dispatch_queues_[device]->take_back(slot);
  if (slot.is_split()) {
    partition_done(slot);
  } else if (!slot.parts[device].error.empty()) {
    retry(slot);
  } else {
    slot.ready = now_ns();
    ++slot.segment;
    run_segments(slot);
  }
}

// The last of a split frame's partitions to be done goes on with the whole.
void Pipeline::Impl::partition_done(Slot& slot) {
  if (slot.partitions_left.fetch_sub(1) > 1) return;
  if (std::ranges::any_of(slot.parts, [](const DevicePart& part) { return !part.error.empty(); })) {
    retry(slot);
    return;
  }
  if (slot.cpu_error.empty()) {
    for (std::size_t i = 0; i < dispatch_queues_.size(); ++i) {
      if (takes_part(slot, i)) processor_.merge(*slot.workspace, *slot.parts[i].partition);
    }
    slot.ready = now_ns();
    run_on_cpu(slot, processor_.partitionable_stages(), processor_.stages().size());
  }
  finish(slot);
}

// A device has failed: without it, from the beginning.
void Pipeline::Impl::retry(Slot& slot) {
  leave_device(slot);
  for (DevicePart& part : slot.parts) {
    part.error.clear();
    part.failed = false;
    if (!std::exchange(part.abandoned, false)) continue;
    leak_deliberately(part.slot.release());  // the device may still write to them, for ever
    leak_deliberately(part.partition.release());
  }
  ++slot.stream->accounts.retried;
  slot.ready = now_ns();
  for (Span& span : slot.spans) span.work = 0;
  replan(slot);
  search(slot);
}

// The slot's schedule without the devices that are lost.
void Pipeline::Impl::replan(Slot& slot) {
  const std::lock_guard lock(mutex_);
  slot.plan = plan_for(slot.plan->schedule);
}

void Pipeline::Impl::finish(Slot& slot) {
  leave_device(slot);
  if (!slot.cpu_error.empty()) {
    slot.result.status = FrameStatus::failed;
    clear_found(slot.result);
    set_message(slot.result.message, slot.cpu_error);
  } else if (slot.result.status == FrameStatus::ok) {
    processor_.take_result(*slot.workspace, slot.result);
  }
  slot.stream->in_order->try_put(&slot);
}

void Pipeline::Impl::deliver(StreamState& stream, Slot& slot) {
  const std::int64_t start = now_ns();
  try {
    if (!failed_) {
      for (Sink* sink : stream.stream->sinks) sink->accept(slot.frame, slot.result);
    }
    const std::int64_t end = now_ns();
    slot.spans.push_back({Activity::output, 0, 0, 0, start, end, end - start});
    stream.spans.assign(slot.spans.begin(), slot.spans.end());
    for (const DevicePart& part : slot.parts)
      stream.spans.insert(stream.spans.end(), part.spans.begin(), part.spans.end());
    std::sort(stream.spans.begin(), stream.spans.end(),
              [](const Span& a, const Span& b) { return a.start < b.start; });
    FrameTrace trace;
    trace.frame = slot.result.frame;
    trace.source = stream.index;
    trace.slot = slot.index;
    trace.slots_in_use = slot.slots_in_use;
    trace.dropped = stream.stream->source->dropped();
    trace.admitted = slot.admitted;
    trace.entered = slot.entered;
    trace.delivered = end;
    trace.status = slot.result.status;
    trace.setting = static_cast<int>(slot.setting);
    trace.spans = stream.spans;
    stream.accounts.add(slot.result, trace);
    {
      const std::lock_guard lock(trace_mutex_);  // several streams deliver at once
      for (TraceSink* sink : traces_) sink->accept(trace);
    }
    if (stream.stream->on_progress && !failed_) stream.stream->on_progress(stream.accounts.progress());
  } catch (...) {
    end_with(std::current_exception());
  }
  slot.frame = Frame();  // back to the decoder's pool
  release(slot);
}

}  // namespace sightline::pipeline
