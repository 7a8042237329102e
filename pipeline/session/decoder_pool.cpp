#include "pipeline/session/decoder_pool.hpp"

#include <algorithm>

namespace sightline::pipeline {

DecoderPool::~DecoderPool() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void DecoderPool::add(StreamState& stream) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(&stream);
  try {
    if (waiting_.size() > idle_ && threads_.size() < limit_) start_thread();
  } catch (...) {
    if (threads_.empty()) {
      waiting_.pop_back();
      throw;
    }
    limit_ = threads_.size();  // those that there are do the work
  }
  changed_.notify_one();
}

void DecoderPool::relieve() {
  const std::lock_guard lock(mutex_);
  const bool stuck = idle_ == 0 && taken_ == 0;
  taken_ = 0;
  if (!stuck) return;
  try {
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      start_thread();
      limit_ = std::max(limit_, threads_.size());
    }
  } catch (...) {  // without more threads they wait for the blocked ones
  }
}

void DecoderPool::start_thread() {
  threads_.reserve(threads_.size() + 1);
  threads_.emplace_back([this] { work(); });
}

void DecoderPool::work() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (waiting_.empty()) {
      ++idle_;
      changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
      --idle_;
      continue;
    }
    StreamState& stream = *waiting_.front();
    waiting_.pop_front();
    ++taken_;
    lock.unlock();
    read_(stream);
    lock.lock();
  }
}

}  // namespace sightline::pipeline
