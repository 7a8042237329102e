#pragma once
/// Internal to the session: threads for sources whose `read` blocks or decodes with threads of its own.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace sightline::pipeline {

struct StreamState;

/// Reads streams on threads that belong to none of them. Thread-safety: any thread.
class DecoderPool {
 public:
  /// @param read     reads a stream until it has to wait for a slot or ends; must not throw
  /// @param threads  to begin with; more are made where all of them are blocked
  DecoderPool(std::function<void(StreamState&)> read, std::size_t threads)
      : read_(std::move(read)), limit_(threads) {}
  ~DecoderPool();
  DecoderPool(const DecoderPool&) = delete;
  DecoderPool& operator=(const DecoderPool&) = delete;

  /// Has a stream read. Throws std::system_error if there is no thread for it.
  void add(StreamState& stream);
  /// Makes another thread where streams have waited since the last call. To be called now and then.
  void relieve();

 private:
  void work();
  void start_thread();

  const std::function<void(StreamState&)> read_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<StreamState*> waiting_;
  std::size_t limit_;
  std::size_t idle_ = 0;
  std::size_t taken_ = 0;  ///< streams since the last `relieve`
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sightline::pipeline
