#include "media/recorder.hpp"

#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/file_names.hpp"
#include "base/log.hpp"
#include "base/message.hpp"

namespace sightline::media {
namespace {

namespace fs = std::filesystem;

using Labels = std::shared_ptr<const std::vector<std::string>>;

/// Orders to the encoder's thread, in sequence.
struct Order {
  enum class Kind { begin, frame, end } kind = Kind::frame;
  std::int64_t session = 0;  // counts the calls of `start`
  std::string file;          // file to begin
  Frame frame;
  std::vector<Detection> objects;
  Labels labels;
};

void remove_file(const std::string& file) {
  std::error_code error;
  if (fs::is_regular_file(file, error) && !fs::remove(file, error) && error)
    logger().warn("cannot delete '{}' ({})", file, error.message());
}

}  // namespace

struct Recorder::Impl {
  Impl(const StreamInfo& video, RecordOptions options)
      : video_(video),
        options_(std::move(options)),
        names_(options_.path, "sightline-%Y%m%d-%H%M%S.mp4", options_.rotation.is_set()) {
    options_.queue = std::max<std::size_t>(options_.queue, 1);
    options_.writing.live = true;
    options_.writing.audio.reset();
    if (video_.size.width <= 0 || video_.size.height <= 0) video_.size = {640, 480};  // for the check only
    if (is_picture_name(names_.example()))
      throw Error(ExitCode::usage, "'" + options_.path + "' is the name of a picture, not of a recording",
                  "choose a name that ends in .mp4 or .mkv");
    check_writing(names_.example(), video_, options_.writing);
    thread_ = std::thread([this] { run(); });
  }

  // --- The callers' side ---

  void start() {
    const std::lock_guard starting(starting_);
    {
      const std::lock_guard lock(mutex_);
      if (closing_) throw Error(ExitCode::failed, "the recorder has finished and takes no more frames");
      if (status_.recording) return;
    }
    std::string file = names_.reserve();  // may take its time, and `offer` must not wait for it
    const std::lock_guard lock(mutex_);
    Order order;
    order.kind = Order::Kind::begin;
    order.session = ++session_;
    order.file = std::move(file);
    status_.recording = true;
    status_.error.clear();
    status_.file = order.file;
    status_.seconds = 0;
    status_.bytes = status_.frames = 0;
    push(std::move(order));
  }

  void stop() {
    const std::lock_guard starting(starting_);
    const std::lock_guard lock(mutex_);
    end_session();
  }

  void end_session() {
    if (!std::exchange(status_.recording, false)) return;
    Order order;
    order.kind = Order::Kind::end;
    order.session = session_;
    push(std::move(order));
  }

  bool offer(const Frame& frame, std::span<const Detection> objects, std::span<const std::string> labels) {
    if (frame.empty()) return false;
    {
      const std::lock_guard lock(mutex_);
      if (!status_.recording) return false;
      if (is_full()) return false;
    }
    Order order;
    order.frame = frame;
    order.objects.assign(objects.begin(), objects.end());
    order.labels = share(labels);
    std::unique_lock lock(mutex_);
    if (!status_.recording) return false;  // switched off in the meantime
    ++status_.offered;
    ++status_.pending;
    ++waiting_;  // there still is room: only the encoder's thread changes it, and it makes some
    order.session = session_;
    orders_.push_back(std::move(order));
    lock.unlock();  // or the thread that wakes would find it locked
    ready_.notify_one();
    return true;
  }

  bool is_full() {
    if (waiting_ < options_.queue) return false;
    ++status_.offered;
    ++status_.busy;
    return true;
  }

  /// Labels hardly ever change: one copy serves all frames.
  Labels share(std::span<const std::string> labels) {
    if (!labels_ || !std::equal(labels.begin(), labels.end(), labels_->begin(), labels_->end()))
      labels_ = std::make_shared<const std::vector<std::string>>(labels.begin(), labels.end());
    return labels_;
  }

  void push(Order order) {
    orders_.push_back(std::move(order));
    ready_.notify_one();
  }

  RecorderStatus status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

  void finish() {
    const std::lock_guard starting(starting_);
    {
      const std::lock_guard lock(mutex_);
      end_session();
      closing_ = true;
      ready_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }

  // --- The encoder's thread ---

  void run() {
#ifdef SCHED_BATCH
    // Keeps the woken encoder from preempting the thread that offers frames. The encoder's own threads
    // inherit the policy. A refusal is harmless.
    const sched_param priority{};
    sched_setscheduler(0, SCHED_BATCH, &priority);
#endif
    while (std::optional<Order> order = next()) {
      switch (order->kind) {
        case Order::Kind::begin:
          begin(*order);
          break;
        case Order::Kind::frame:
          handle(*order);
          break;
        case Order::Kind::end:
          attempt(*order, [&] { close(); });
          break;
      }
    }
  }

  std::optional<Order> next() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return !orders_.empty() || closing_; });
    if (orders_.empty()) return std::nullopt;
    Order order = std::move(orders_.front());
    orders_.pop_front();
    if (order.kind == Order::Kind::frame) --waiting_;
    return order;
  }

  void begin(Order& order) {
    file_ = std::move(order.file);
    frames_ = 0;
    failed_ = false;
  }

  void handle(const Order& order) {
    const bool written = !failed_ && attempt(order, [&] { write(order); });
    const std::lock_guard lock(mutex_);
    --status_.pending;
    ++(written ? status_.written : status_.failed);
  }

  /// Does what may fail; then the recording ends, unless it is just the frame. @return whether it was done
  template <typename Action>
  bool attempt(const Order& order, Action action) {
    try {
      action();
      return true;
    } catch (const Error& error) {
      if (error.code() == ExitCode::input && !std::exchange(warned_, true))
        logger().warn("the recording skips a frame: {}", error.what());
      if (error.code() != ExitCode::input) fail(order, error.what());
    } catch (const std::exception& error) {
      fail(order, error.what());
    }
    return false;
  }

  void fail(const Order& order, std::string_view reason) {
    failed_ = true;
    logger().error("the recording has ended: {}", reason);
    try {
      writer_.reset();  // ends the file as well as it can
      if (frames_ == 0) remove_empty();
    } catch (const std::exception&) {  // without memory the empty file stays
    }
    const std::lock_guard lock(mutex_);
    if (order.session == session_) status_.recording = false;  // else another one has been started
    set_message(status_.error, reason);
  }

  void write(const Order& order) {
    if (is_cut_due(order.frame)) {
      close();
      file_ = names_.reserve();
    }
    if (!writer_) open(order.frame);
    writer_->write(order.frame, order.objects, *order.labels);
    if (frames_ == 0) begin_file(order.frame);
    ++frames_;
    last_time_ = order.frame.time();
    const std::int64_t bytes = writer_->bytes();
    largest_ = std::max(largest_, bytes - bytes_);
    bytes_ = bytes;
    show(order, bytes_);
  }

  bool is_cut_due(const Frame& frame) const {
    if (!writer_ || frames_ == 0) return false;
    constexpr double rounding = 1e-6, backwards = 1;
    const SegmentLimits& limit = options_.rotation;
    return (limit.seconds > 0 && frame.time() - first_time_ >= limit.seconds - rounding) ||
           (limit.bytes > 0 && bytes_ + largest_ > limit.bytes) || frame.time() < last_time_ - backwards;
  }

  void open(const Frame& frame) {
    StreamInfo video = video_;
    video.size = frame.size();
    writer_.emplace(file_, video, options_.writing);
    frames_ = bytes_ = largest_ = 0;
  }

  /// The first frame is in: the file is one to keep.
  void begin_file(const Frame& frame) {
    first_time_ = frame.time();
    kept_.push_back(file_);
    while (options_.keep > 0 && kept_.size() > static_cast<std::size_t>(options_.keep)) {
      remove_file(kept_.front());
      kept_.pop_front();
    }
    const std::lock_guard lock(mutex_);
    ++status_.files;
  }

  void close() {
    if (writer_) {
      writer_->finish();
      bytes_ = writer_->bytes();
      writer_.reset();
      const std::lock_guard lock(mutex_);
      if (status_.file == file_) status_.bytes = bytes_;
    }
    if (frames_ == 0) remove_empty();
    file_.clear();
    frames_ = 0;
  }

  void remove_empty() {
    if (file_.empty()) return;
    remove_file(file_);
    const std::lock_guard lock(mutex_);
    if (status_.file == file_) status_.file.clear();
  }

  void show(const Order& order, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (order.session != session_) return;  // the status is already that of the next recording
    status_.file = file_;
    status_.seconds = last_time_ - first_time_;
    status_.frames = frames_;
    status_.bytes = bytes;
  }

  StreamInfo video_;
  RecordOptions options_;
  FileNames names_;
  std::mutex starting_;  // one start, stop or finish at a time; before mutex_
  Labels labels_;        // labels of the last `offer`

  mutable std::mutex mutex_;  // guards the following; never held while encoding, writing or opening
  std::condition_variable ready_;
  std::deque<Order> orders_;
  std::size_t waiting_ = 0;  // frames in orders_
  std::int64_t session_ = 0;
  bool closing_ = false;
  RecorderStatus status_;

  // Members of the encoder's thread.
  std::optional<Writer> writer_;
  std::string file_;
  std::deque<std::string> kept_;
  double first_time_ = 0, last_time_ = 0;
  std::int64_t frames_ = 0, bytes_ = 0;
  std::int64_t largest_ = 0;  // bytes that one frame has added
  bool failed_ = false;       // this session
  bool warned_ = false;

  std::thread thread_;
};

Recorder::Recorder(const StreamInfo& video, RecordOptions options)
    : impl_(std::make_unique<Impl>(video, std::move(options))) {}

Recorder::~Recorder() {
  try {
    finish();
  } catch (...) {  // a destructor must not throw, and errors are in the status
  }
}

void Recorder::start() {
  impl_->start();
}
void Recorder::stop() {
  impl_->stop();
}
bool Recorder::offer(const Frame& frame, std::span<const Detection> objects,
                     std::span<const std::string> labels) {
  return impl_->offer(frame, objects, labels);
}
RecorderStatus Recorder::status() const {
  return impl_->status();
}
void Recorder::finish() {
  impl_->finish();
}

}  // namespace sightline::media
