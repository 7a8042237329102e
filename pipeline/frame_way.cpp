// A frame's way through the graph: the segments of its schedule, then back into order.
#include <algorithm>

#include "pipeline/pipeline_impl.hpp"

namespace sightline::pipeline {

namespace {

// Of whatever kind it is.
void clear_found(FrameResult& result) {
  result.objects.clear();
  result.output.reset();
}

}  // namespace

void Pipeline::Impl::step(Token token) {
  Slot& slot = *token.slot;
  try {
    token.from_device ? back_from_device(slot) : begin(slot);
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
  slot.cpu_error.clear();
  slot.device_error.clear();
  slot.device_failed = false;
  slot.segment = 0;
  slot.ready.fill(slot.decoded);
  for (std::vector<Span>& spans : slot.spans) spans.clear();
  slot.spans[0].push_back({Activity::decode, 0, 0, 0, slot.admitted, slot.decoded, 0});
  slot.plan = plan_;
  result.source = slot.stream->stream->name;
  result.picture = slot.frame.name();
  const Schedule& schedule = slot.plan->schedule;

  slot.workspace->tuned = schedule.tuned;
  if (!processor_.prepare(*slot.workspace, slot.frame.view(), {schedule.split, 1})) {
    result.status = FrameStatus::skipped;
    result.message = "the frame is smaller than the smallest object that is searched for";
    finish(slot);
    return;
  }
  if (schedule.uses_device()) {
    try {
      if (schedule.split > 0) {
        if (!slot.device_partition) slot.device_partition = processor_.make_workspace();
        slot.device_partition->tuned = schedule.tuned;
        processor_.prepare(*slot.device_partition, slot.frame.view(), {0, schedule.split});
      }
      if (!slot.device) slot.device = device_->make_slot();
      device_->prepare(*slot.device, slot.device_workspace(), device_stages(schedule, processor_));
    } catch (const std::exception& e) {
      retry_on_cpu(slot, e.what());
      return;
    }
  }
  if (schedule.split == 0) {
    run_segments(slot);
    return;
  }
  slot.partitions_left = 2;
  hand_to_device(slot);
  try {
    run_on_cpu(slot, 0, processor_.partitionable_stages());
  } catch (const std::exception& e) {
    set_message(slot.cpu_error, e.what());
  } catch (...) {
    set_message(slot.cpu_error, "an unknown error");
  }
  partition_done(slot);
}

void Pipeline::Impl::run_segments(Slot& slot) {
  const std::vector<Segment>& segments = slot.plan->segments;
  for (; slot.segment < segments.size(); ++slot.segment) {
    const Segment& segment = segments[slot.segment];
    if (segment.on_device) {
      hand_to_device(slot);
      return;  // back_from_device goes on
    }
    run_on_cpu(slot, segment.first, segment.last);
  }
  finish(slot);
}

void Pipeline::Impl::run_on_cpu(Slot& slot, std::size_t first, std::size_t last) {
  for (std::size_t stage = first; stage < last; ++stage) {
    const auto index = static_cast<std::uint8_t>(stage);
    const std::int64_t start = now_ns();
    slot.workspace->work.take();
    processor_.run_stage(stage, *slot.workspace);
    const std::int64_t end = now_ns();
    if (stage == first) slot.spans[0].push_back({Activity::wait, index, 0, 0, slot.ready[0], start, 0});
    const auto work = static_cast<std::int64_t>(1e9 * slot.workspace->work.take());
    slot.spans[0].push_back({Activity::run, index, 0, 0, start, end, work > 0 ? work : end - start});
    slot.ready[0] = end;
  }
}

// The second of a split frame's partitions to be done goes on with the whole.
void Pipeline::Impl::partition_done(Slot& slot) {
  if (slot.partitions_left.fetch_sub(1) > 1) return;
  if (!slot.device_error.empty()) {
    retry_on_cpu(slot, slot.device_error);
    return;
  }
  if (slot.cpu_error.empty()) {
    processor_.merge(*slot.workspace, *slot.device_partition);
    slot.ready[0] = now_ns();
    run_on_cpu(slot, processor_.partitionable_stages(), processor_.stages().size());
  }
  finish(slot);
}

void Pipeline::Impl::retry_on_cpu(Slot& slot, const std::string& error) {
  disable_device(error);
  if (slot.abandoned) {  // the device may still write to them, for ever
    keep_forever(slot.device.release());
    keep_forever(slot.device_partition.release());
    slot.abandoned = false;
  }
  ++slot.stream->accounts.retried;
  slot.plan = &cpu_plan_;
  slot.segment = 0;
  slot.ready[0] = now_ns();
  slot.cpu_error.clear();
  for (Span& span : slot.spans[0]) span.work = 0;
  processor_.prepare(*slot.workspace, slot.frame.view());
  run_segments(slot);
}

void Pipeline::Impl::finish(Slot& slot) {
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
    slot.spans[0].push_back({Activity::output, 0, 0, 0, start, end, end - start});
    stream.spans.clear();
    for (const std::vector<Span>& spans : slot.spans)
      stream.spans.insert(stream.spans.end(), spans.begin(), spans.end());
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
  slot.frame = media::Frame();  // back to the decoder's pool
  release(slot);
}

}  // namespace sightline::pipeline
