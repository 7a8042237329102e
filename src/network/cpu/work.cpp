#include "network/cpu/work.hpp"

#include <algorithm>

namespace sightline::nn {

std::byte* SpareMemory::take_bytes(std::size_t bytes) {
  constexpr std::size_t kAlignment = 64, kLeastChunk = std::size_t{1} << 20;
  const std::size_t needed = (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
  while (chunk_ < chunks_.size() && used_ + needed > chunks_[chunk_].size()) {
    ++chunk_;
    used_ = 0;
  }
  if (chunk_ == chunks_.size()) {
    chunks_.emplace_back();
    chunks_.back().resize(std::max(needed, kLeastChunk));
    std::fill_n(chunks_.back().data(), chunks_.back().size(), std::byte{0});
  }
  std::byte* const taken = chunks_[chunk_].data() + used_;
  used_ += needed;
  return taken;
}

}  // namespace sightline::nn
