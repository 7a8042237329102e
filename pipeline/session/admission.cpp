// Reads frames into free slots. A stream waits (is parked) until it gets a slot; then its source is read, by
// a task of the graph or by a thread of the decoder pool, until no slot is left for it.
#include <algorithm>
#include <limits>

#include "pipeline/session/session_impl.hpp"

namespace sightline::pipeline {

namespace {

// A frame that was captured has its own times; else the source made it while it was asked for it.
void set_times(Slot& slot, std::int64_t asked) {
  const std::int64_t now = now_ns();
  const FrameTimes& times = slot.frame.times();
  const bool captured = times.captured != 0;
  slot.admitted = captured ? times.captured : asked;
  slot.decoded = captured && times.decoded != 0 ? std::max(times.decoded, times.captured) : now;
  slot.entered = captured ? now : 0;
}

// Nanoseconds between two frames, at least.
std::int64_t period(const StreamState& s) {
  return s.stream.rate > 0 ? static_cast<std::int64_t>(kSecond / s.stream.rate) : 0;
}

// As FrameSource::try_read; the frame may be a tile.
bool try_read(StreamState& s, std::optional<Frame>& frame, Tile& tile) {
  if (s.tiled) return s.tiled->try_read(*s.stream.source, frame, tile);
  tile = {};
  return s.stream.source->try_read(frame);
}

}  // namespace

// --- with the mutex held -----------------------------------------------------------------------------------

// What a stream may have depends on the others of its program.
struct Session::Impl::Contest {
  double importance = 0;  ///< of all that have frames
  double least = 0;       ///< least share of those whose frames are there at once
};

Session::Impl::Contest Session::Impl::contest(const Program& program) {
  Contest all{0, std::numeric_limits<double>::infinity()};
  for (const StreamState* s : program.streams) {
    if (s->is_starved || now_ns() < s->due) continue;
    all.importance += s->stream.importance;
    if (s->reading != FrameSource::Reading::waits) all.least = std::min(all.least, s->share);
  }
  return all;
}

// A stream has its share of the slots. One whose frames are there at once must not get ahead of others of its
// kind, either: its frames may pass through faster than the slots fill. One that waits may always have one
// slot, so that one that blocks keeps nobody from entering.
bool Session::Impl::may_enter(const StreamState& s, const Contest& all) {
  if (s.is_starved || now_ns() < s.due) return false;
  const int in_flight = s.program->plan.load()->schedule.in_flight;
  const bool waits = s.reading == FrameSource::Reading::waits;
  if (s.in_use == 0 && waits) return true;
  if (s.in_use > 0 && s.in_use + 1 > in_flight * s.stream.importance / all.importance) return false;
  if (!waits && s.share > all.least + 1 / s.stream.importance) return false;
  return s.program->in_use() < static_cast<std::size_t>(in_flight);
}

Slot* Session::Impl::give_slot(StreamState& s) {
  Program& program = *s.program;
  if (program.free_slots.empty()) {
    program.slots.reserve(program.slots.size() + 1);
    program.free_slots.reserve(program.slots.size() + 1);  // `give_back` must not need memory
    auto made = std::make_unique<Slot>(program, static_cast<int>(program.slots.size()));
    Slot& slot = *program.slots.emplace_back(std::move(made));
    for (DevicePart& part : slot.parts) program.queues[part.device]->watch_part(part);
    program.free_slots.push_back(&slot);
  }
  Slot* const slot = program.free_slots.back();
  program.free_slots.pop_back();
  slot->stream = &s;
  slot->slots_in_use = static_cast<int>(program.in_use());
  ++s.in_use;
  s.share += 1 / s.stream.importance;
  program.share = std::max(program.share, s.share);
  s.due = std::max(s.due + period(s), now_ns());
  return slot;
}

void Session::Impl::give_back(Slot& slot) noexcept {
  --slot.stream->in_use;
  slot.program.free_slots.push_back(&slot);
}

void Session::Impl::end_reading(StreamState& s) noexcept {
  s.has_ended = true;
  end_if_done(s);
}

void Session::Impl::end_if_done(StreamState& s) noexcept {
  if (!s.has_ended || s.in_use > 0 || s.is_done) return;
  s.is_done = true;
  std::erase(s.program->streams, &s);
  --running_;
  note({s.error ? Event::Kind::failed : Event::Kind::ended, s.id, {}}, s.error);
  changed_.notify_all();
}

// The parked stream that had the least, of those that may enter. Ends those that are to end.
StreamState* Session::Impl::next_to_enter(Program& program) noexcept {
  StreamState* next = nullptr;
  const Contest all = contest(program);
  for (std::size_t i = program.streams.size(); i-- > 0;) {
    StreamState& s = *program.streams[i];
    if (!s.is_parked) continue;
    if (is_ending(s)) {
      s.is_parked = false;
      end_reading(s);
    } else if (may_enter(s, all) && (!next || s.share <= next->share)) {
      next = &s;
    }
  }
  return next;
}

bool Session::Impl::grant(StreamState& s) noexcept {
  try {
    s.granted = give_slot(s);
    s.is_parked = false;
    return true;
  } catch (...) {
    end_with(s, std::current_exception(), false);
    return false;
  }
}

// Parks a stream that wants its next slot, unless it is its turn. Streams are parked before their source
// could be read again: else the one that had the least might miss a free slot.
bool Session::Impl::grant_or_park(StreamState& s) noexcept {
  s.is_parked = true;
  StreamState* const next = next_to_enter(*s.program);
  if (next && next != &s) admissions_->try_put(s.program);
  return next == &s && grant(s);
}

// The time without frames is no credit.
void Session::Impl::end_starvation(StreamState& s) noexcept {
  if (std::exchange(s.is_starved, false)) s.share = std::max(s.share, s.program->share);
}

// --- without it --------------------------------------------------------------------------------------------

void Session::Impl::admit_waiting(Program& program) noexcept {
  for (;;) {
    StreamState* next = nullptr;
    {
      const std::lock_guard lock(mutex_);
      next = next_to_enter(program);
      if (!next) return;
      if (!grant(*next) || next->asks_again) continue;
    }
    start_reading(*next);
  }
}

void Session::Impl::start_reading(StreamState& s) noexcept {
  try {
    if (s.reading == FrameSource::Reading::waits) {
      pool_->add(s);
    } else {
      s.input->activate();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    end_with(s, std::current_exception(), false);
    give_back(*std::exchange(s.granted, nullptr));
    end_reading(s);
  }
}

// The next frame, in the slot that the stream was granted; null where there is none. Nobody may use the
// stream after that unless it `goes_on`. This may run in an input_node, whose mutex it holds and `activate`
// waits for: it must not admit streams, but has it done by a node.
Slot* Session::Impl::read_next(StreamState& s, bool& goes_on) noexcept {
  for (;;) {
    Slot* slot = nullptr;
    bool ends = false;
    {
      const std::lock_guard lock(mutex_);
      slot = std::exchange(s.granted, nullptr);
      s.is_announced = s.asks_again = goes_on = false;
      ends = is_ending(s);
    }
    if (!slot) return nullptr;
    std::optional<Frame> frame;
    std::exception_ptr error;
    const std::int64_t asked = now_ns();
    try {
      if (!ends && !try_read(s, frame, slot->tile)) {
        if (!wait_for_announcement(s, *slot)) return nullptr;
        continue;
      }
    } catch (...) {
      error = std::current_exception();
    }
    if (frame) {
      slot->sequence = s.next++;
      slot->frame = std::move(*frame);
      set_times(*slot, asked);
      if (slot->tile.index == 0) s.setting = s.program->setting;
      slot->setting = s.setting;
      const std::lock_guard lock(mutex_);
      if (!slot->tile.is_last()) s.due -= period(s);  // the rate is one of frames
      s.asks_again = s.reading != FrameSource::Reading::waits;
      goes_on = grant_or_park(s);
      return slot;
    }
    Program& program = *s.program;
    {
      const std::lock_guard lock(mutex_);
      if (error) end_with(s, std::move(error), true);
      give_back(*slot);
      end_reading(s);
    }
    admissions_->try_put(&program);
    return nullptr;
  }
}

// There is no frame for the slot yet. Whether the stream has a slot again, because there is one now.
bool Session::Impl::wait_for_announcement(StreamState& s, Slot& slot) noexcept {
  {
    const std::lock_guard lock(mutex_);
    give_back(slot);
    s.share -= 1 / s.stream.importance;
    s.due -= period(s);
  }
  admissions_->try_put(s.program);
  const std::lock_guard lock(mutex_);
  s.is_starved = !s.is_announced;
  return grant_or_park(s);
}

void Session::Impl::announced(StreamState& s) noexcept {
  {
    const std::lock_guard lock(mutex_);
    s.is_announced = true;
    if (!s.is_starved) return;
    end_starvation(s);
  }
  admissions_->try_put(s.program);  // the source may hold mutexes
}

void Session::Impl::read_all(StreamState& s) noexcept {
  for (bool goes_on = true; goes_on;) {
    if (Slot* const slot = read_next(s, goes_on)) slot->stream->enter->try_put(slot);
  }
}

void Session::Impl::release(Slot& slot) noexcept {
  Program& program = slot.program;
  {
    const std::lock_guard lock(mutex_);
    StreamState& s = *slot.stream;
    give_back(slot);
    end_if_done(s);
  }
  admit_waiting(program);
}

}  // namespace sightline::pipeline
