#include "media/decoder_thread.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

namespace sightline::media {
namespace {

using ThreadClock = std::chrono::steady_clock;

struct PostedPacket {
  PacketPtr packet;  ///< null: the end
  std::int64_t arrival;
};

}  // namespace

struct DecoderThread::State {
  std::mutex mutex;
  std::condition_variable changed;
  // All guarded by the mutex.
  std::deque<PostedPacket> posted;
  std::deque<FramePtr> pictures;
  std::optional<DecoderFault> fault;
  bool is_busy = true;   ///< opens, or decodes a packet
  bool ends = false;     ///< the end is posted
  bool is_over = false;  ///< all pictures of the stream are made
  bool stops = false;
  bool has_ended = false;  ///< the thread
  bool has_decoded = false;
  ThreadClock::time_point busy_since = ThreadClock::now();

  /// Waits for a packet, and until few pictures wait; none: the thread is to end.
  std::optional<PostedPacket> next() {
    std::unique_lock lock(mutex);
    is_busy = false;
    changed.notify_all();
    changed.wait(lock, [&] { return stops || (!posted.empty() && pictures.size() < kMostWaiting); });
    if (stops) return std::nullopt;
    PostedPacket packet = std::move(posted.front());
    posted.pop_front();
    is_busy = true;
    busy_since = ThreadClock::now();
    return packet;
  }

  void deliver(FramePtr picture) {
    const std::lock_guard lock(mutex);
    pictures.push_back(std::move(picture));
    has_decoded = true;
    busy_since = ThreadClock::now();
    changed.notify_all();
  }

  void decode(VideoDecoder& decoder, const PostedPacket& posted_packet) {
    if (const int code = decoder.send(posted_packet.packet.get(), posted_packet.arrival); code < 0)
      throw_code(code);
    for (;;) {
      FramePtr picture = make_av_frame();
      const int code = decoder.receive(*picture);
      if (code == AVERROR(EAGAIN) && posted_packet.packet) return;
      if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) break;
      if (code < 0) throw_code(code);
      deliver(std::move(picture));
    }
    const std::lock_guard lock(mutex);
    is_over = true;
  }

  [[noreturn]] static void throw_code(int code) {
    using Kind = DecoderFault::Kind;
    throw DecoderFault(code == AVERROR_INVALIDDATA ? Kind::damage : Kind::device, error_text(code));
  }

  void fail(const DecoderFault& with) {
    const std::lock_guard lock(mutex);
    if (!fault) fault = with;
    is_busy = false;
    changed.notify_all();
  }

  void end() {
    const std::lock_guard lock(mutex);
    has_ended = true;
    changed.notify_all();
  }
};

DecoderThread::DecoderThread(Opening open, const Settings& settings)
    : settings_(settings), state_(std::make_shared<State>()) {
  thread_ = std::thread([state = state_, opening = std::move(open)] { run(state, opening); });
}

void DecoderThread::run(const std::shared_ptr<State>& state, const Opening& open) {
  try {
    const std::unique_ptr<VideoDecoder> decoder = open();
    while (const std::optional<PostedPacket> packet = state->next()) state->decode(*decoder, *packet);
  } catch (const DecoderFault& fault) {
    state->fail(fault);
  } catch (const std::exception& error) {
    state->fail(DecoderFault(DecoderFault::Kind::device, error.what()));
  }
  state->end();
}

DecoderThread::~DecoderThread() {
  std::unique_lock lock(state_->mutex);
  state_->stops = true;
  state_->changed.notify_all();
  const bool hangs = state_->fault && state_->fault->kind == DecoderFault::Kind::hang;
  const bool has_ended =
      !hangs && state_->changed.wait_for(lock, settings_.call_limit, [&] { return state_->has_ended; });
  lock.unlock();
  if (has_ended)
    thread_.join();
  else
    thread_.detach();
}

void DecoderThread::post(PacketPtr packet, std::int64_t arrival) {
  const std::lock_guard lock(state_->mutex);
  state_->ends = !packet;
  state_->posted.push_back({std::move(packet), arrival});
  state_->changed.notify_all();
}

int DecoderThread::take(FramePtr& picture) {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  const auto is_ready = [&] {
    const std::size_t underway = state.posted.size() + (state.is_busy ? 1 : 0);
    const bool wants_packet = !state.ends && underway <= settings_.packets_ahead;
    return !state.pictures.empty() || state.fault || state.is_over || wants_packet;
  };
  while (!is_ready()) {
    if (!state.is_busy) {  // the thread is about to fetch a packet
      state.changed.wait(lock);
      continue;
    }
    const auto since = state.busy_since;
    const auto deadline = since + (state.has_decoded ? settings_.call_limit : settings_.opening_limit);
    state.changed.wait_until(lock, deadline);
    if (state.is_busy && state.busy_since == since && ThreadClock::now() >= deadline && !is_ready())
      state.fault = DecoderFault(DecoderFault::Kind::hang, "a call does not return");
  }
  if (!state.pictures.empty()) {
    picture = std::move(state.pictures.front());
    state.pictures.pop_front();
    if (!state.is_busy) state.changed.notify_all();
    return 0;
  }
  if (state.fault) throw DecoderFault(*state.fault);
  return state.is_over ? AVERROR_EOF : AVERROR(EAGAIN);
}

}  // namespace sightline::media
