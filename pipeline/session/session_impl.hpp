#pragma once
/// Internal to the session. `session.cpp` adds and ends streams, `admission.cpp` reads frames into free
/// slots, `frame_dispatch.cpp` builds the graph that leads them through their schedule, and each device has a
/// queue (dispatch_queue.hpp).

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>

#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <thread>

#include "base/message.hpp"
#include "pipeline/session/decoder_pool.hpp"
#include "pipeline/session/dispatch_queue.hpp"
#include "pipeline/session/run_report.hpp"
#include "pipeline/session/session.hpp"
#include "pipeline/session/session_arena.hpp"
#include "pipeline/session/slot.hpp"
#include "pipeline/session/tiled_frames.hpp"

namespace sightline::pipeline {

/// A schedule of a program, with the nodes of the graph that lead a frame through it. Kept as long as the
/// session: frames in flight point to it, and tasks of its nodes may still end.
struct Plan {
  Schedule schedule;
  std::vector<Segment> segments;
  DeviceSet dealt;                    ///< devices that frames are dealt to, or that share a split one
  std::vector<Partition> partitions;  ///< by device, if frames are split

  flow::receiver<Slot*>* begin = nullptr;                  ///< first node
  std::vector<std::unique_ptr<flow::graph_node>> nodes{};  ///< in the order of a frame's way
};

/// A processor with its stages on devices, under a schedule. Guarded by the session's mutex but for the
/// constants and atomics.
struct Program {
  Program(const FrameProcessor& one, const Devices& some)
      : processor(one), devices(some), setting(one.configured_setting()) {}

  const FrameProcessor& processor;
  const Devices devices;
  std::vector<DispatchQueue*> queues;  ///< by device; constant
  std::atomic<std::size_t> setting;    ///< operating point of the frames that enter from now on
  std::list<Plan> plans;               ///< all there have been, each once
  std::atomic<Plan*> plan{nullptr};
  std::mutex deal_mutex;

  std::vector<std::unique_ptr<Slot>> slots;
  std::vector<Slot*> free_slots;
  std::vector<StreamState*> streams;  ///< that have not ended
  double share = 0;                   ///< of the stream that entered last

  std::size_t in_use() const { return slots.size() - free_slots.size(); }
};

/// A stream, with the nodes of the graph where its frames enter and where they get their order back. Used for
/// one stream after the other: a node must not be destroyed while the graph runs.
struct StreamState {
  // Of one stream. Guarded by the session's mutex, where nothing else is said.
  StreamId id{};
  Stream stream;  ///< constant, but for `rate`
  Program* program = nullptr;
  TraceInfo info;                  ///< constant
  Slot* granted = nullptr;         ///< for its next frame
  int in_use = 0;                  ///< slots
  double share = 0;                ///< frames that have entered, by importance
  std::int64_t due = 0;            ///< no frame enters before (now_ns)
  FrameSource::Reading reading{};  ///< constant; how the source reads
  bool is_starved = false;         ///< the source has no frame: it will announce one
  bool is_announced = false;       ///< since the source was read last
  bool asks_again = false;         ///< `input` will look for a slot without being activated
  bool is_parked = false;          ///< it waits for a slot; nobody reads
  bool is_ending = false;          ///< no more frames enter
  bool has_ended = false;          ///< none will enter
  bool is_done = false;            ///< has ended, and all frames are delivered
  bool was_stopped = false;        ///< by request
  std::exception_ptr error;
  std::atomic<bool> discards{false};  ///< frames in flight go to no sink any more
  std::vector<Span> spans;            ///< spans of the frame being delivered; its own task's
  std::mutex accounts_mutex;
  std::optional<RunAccounts> accounts;  ///< guarded by accounts_mutex, but for `retried`
  std::optional<TiledFrames> tiled;     ///< the reader's and the deliverer's; none: frames are searched whole
  std::size_t setting = 0;              ///< operating point of the frame that was read last; the reader's

  // For all streams.
  std::int64_t next = 0;                           ///< sequence number of the next frame; the reader's
  std::unique_ptr<flow::input_node<Slot*>> input;  ///< reads, where the source computes
  std::unique_ptr<flow::function_node<Slot*>> enter;
  std::unique_ptr<flow::sequencer_node<Slot*>> in_order;
  std::unique_ptr<flow::function_node<Slot*>> output;
};

class Session::Impl {
 public:
  explicit Impl(const SessionOptions& options);
  ~Impl();

  int threads() const { return arena_->max_concurrency(); }

  ProgramId add(const FrameProcessor& processor, const Devices& devices, const Schedule& schedule);
  Program& program(ProgramId id);
  void set_schedule(Program& program, const Schedule& schedule);
  static void wait_until_ready(Program& program);
  TraceInfo trace_info(const Program& program) const;

  std::vector<StreamId> add(Program& program, std::span<const Stream> streams);
  void set_rate(StreamId id, double rate);
  RunReport report(StreamId id) const;
  bool is_done(StreamId id) const;
  RunReport wait(StreamId id, bool ends_it);
  std::optional<Event> next_event(std::chrono::milliseconds timeout);

 private:
  using Lock = std::unique_lock<std::mutex>;

  // session.cpp: streams and programs. Those that take no lock are called with the mutex held.
  DispatchQueue& queue_for(const DeviceStages& stages, const std::string& name);
  Plan* plan_for(Program& program, const Schedule& schedule, const DeviceSet& others = {});
  StreamState& free_state();
  StreamState& state(StreamId id) const;
  static RunReport report_of(StreamState& s);
  void note(Event event, const std::exception_ptr& error) noexcept;
  void lose_device(const ComputeDevice& device, const std::string& error);
  void end_all() noexcept;
  void end_with(StreamState& s, std::exception_ptr error, bool delivers) noexcept;
  void keep(const std::stop_token& stop);
  void look_after_all() noexcept;

  // admission.cpp: a slot for a frame, and the frame. With the mutex held:
  static bool is_ending(const StreamState& s) {
    return s.is_ending || (s.stream.stop && s.stream.stop->load());
  }
  struct Contest;
  static Contest contest(const Program& program);
  static bool may_enter(const StreamState& s, const Contest& all);
  static Slot* give_slot(StreamState& s);
  static void give_back(Slot& slot) noexcept;
  void end_reading(StreamState& s) noexcept;
  void end_if_done(StreamState& s) noexcept;
  StreamState* next_to_enter(Program& program) noexcept;
  bool grant(StreamState& s) noexcept;
  bool grant_or_park(StreamState& s) noexcept;
  static void end_starvation(StreamState& s) noexcept;
  // Without it:
  void admit_waiting(Program& program) noexcept;
  void start_reading(StreamState& s) noexcept;
  Slot* read_next(StreamState& s, bool& goes_on) noexcept;
  bool wait_for_announcement(StreamState& s, Slot& slot) noexcept;
  void announced(StreamState& s) noexcept;
  void read_all(StreamState& s) noexcept;
  void release(Slot& slot) noexcept;

  // frame_dispatch.cpp: a frame's way, as nodes of the graph.
  void build_nodes(Program& program, Plan& plan);
  void build_nodes(StreamState& s);
  void enter(Slot& slot) noexcept;
  Plan* plan_while_compiling(Program& program);
  Slot* begin(Slot& slot);
  static bool deal(Slot& slot);
  static void leave_device(Slot& slot);
  static bool takes_part(const Slot& slot, std::size_t device);
  static bool prepare_devices(Slot& slot);
  static void run_on_cpu(Slot& slot, std::size_t stage, bool waited);
  static Slot* submit(Slot& slot, std::size_t segment, DeviceNode::gateway_type& gateway);
  Slot* back_from_device(DevicePart& part);
  static void run_partition(Slot& slot) noexcept;
  Slot* merge(Slot& slot);
  Slot* retry(Slot& slot);
  static void finish(Slot& slot) noexcept;
  void deliver(Slot& slot) noexcept;

  const SessionOptions options_;
  SessionArena arena_;
  std::optional<oneapi::tbb::global_control> workers_;  ///< TBB's limit of threads, raised; or else:
  std::thread helper_;                                  ///< works in the arena
  std::unique_ptr<flow::graph> graph_;
  std::unique_ptr<flow::function_node<Program*>> admissions_;  ///< calls admit_waiting

  std::mutex add_mutex_;  ///< of adding programs; before `mutex_`
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Program> programs_;
  std::deque<StreamState> states_;  ///< all there have been
  std::vector<StreamState*> free_states_;
  std::map<StreamId, StreamState*> streams_;
  std::uint64_t next_stream_ = 1;
  std::size_t running_ = 0;  ///< streams that are not done
  std::deque<Event> events_;
  std::mutex trace_mutex_;
  std::vector<std::unique_ptr<DispatchQueue>> queues_;  ///< by device; their threads use the others
  std::unique_ptr<DecoderPool> pool_;                   ///< likewise
  std::jthread keeper_;                                 ///< last: it uses the others
};

}  // namespace sightline::pipeline
