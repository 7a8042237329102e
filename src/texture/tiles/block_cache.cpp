#include "texture/tiles/block_cache.hpp"

#include <algorithm>
#include <utility>

namespace sightline::tiles {

void Block::resize(Size wanted, int wanted_samples) {
  size = wanted;
  samples = wanted_samples;
  pixels.resize(row_bytes() * static_cast<std::size_t>(size.height));
  damage.clear();
}

class BlockCache::Memory {
 public:
  Memory() { free_.reserve(kMost); }
  std::unique_ptr<Block> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Block>();
    std::unique_ptr<Block> block = std::move(free_.back());
    free_.pop_back();
    return block;
  }
  void give_back(std::unique_ptr<Block> block) noexcept {
    const std::lock_guard lock(mutex_);
    if (free_.size() < kMost) free_.push_back(std::move(block));
  }

 private:
  static constexpr std::size_t kMost = 8;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> free_;
};

BlockCache::BlockCache(std::size_t bytes)
    : limit_(bytes),
      spent_limit_(bytes / 4),  // for readers that are behind others
      memory_(std::make_shared<Memory>()) {}

std::shared_ptr<const Block> BlockCache::get(std::int64_t key, const std::function<void(Block&)>& decode) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) break;
    Entry& entry = found->second;
    if (entry.block) {
      if (entry.spent) {
        spent_bytes_ -= entry.block->pixels.size();
        entry.spent = false;
        kept_.splice(kept_.end(), spent_, entry.place);
      } else {
        kept_.splice(kept_.end(), kept_, entry.place);
      }
      return entry.block;
    }
    made_.wait(lock);
  }
  entries_.emplace(key, Entry{});
  lock.unlock();
  std::shared_ptr<const Block> block;
  std::list<std::int64_t> place;
  try {
    place.push_back(key);
    std::unique_ptr<Block> made = memory_->take();
    decode(*made);
    block = {made.release(),
             [memory = memory_](Block* done) { memory->give_back(std::unique_ptr<Block>(done)); }};
  } catch (...) {
    lock.lock();
    entries_.erase(key);
    made_.notify_all();
    throw;
  }
  lock.lock();
  Entry& entry = entries_.at(key);
  entry.block = block;
  entry.place = place.begin();
  kept_.splice(kept_.end(), place);
  bytes_ += block->pixels.size();
  shrink();
  made_.notify_all();
  return block;
}

void BlockCache::spent(std::int64_t key) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end() || !found->second.block || found->second.spent) return;
  found->second.spent = true;
  spent_bytes_ += found->second.block->pixels.size();
  spent_.splice(spent_.end(), kept_, found->second.place);
  shrink();
}

void BlockCache::shrink() {
  while (spent_bytes_ > spent_limit_ || (bytes_ > limit_ && !spent_.empty())) drop_first(spent_);
  while (bytes_ > limit_ && kept_.size() > 1) drop_first(kept_);
}

void BlockCache::drop_first(std::list<std::int64_t>& keys) {
  const auto found = entries_.find(keys.front());
  const std::size_t bytes = found->second.block->pixels.size();
  bytes_ -= bytes;
  if (found->second.spent) spent_bytes_ -= bytes;
  entries_.erase(found);
  keys.pop_front();
}

}  // namespace sightline::tiles
