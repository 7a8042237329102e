#include "network/cpu/work.hpp"

#include <algorithm>

namespace sightline::nn {

void SpareMemory::find_chunk(std::size_t needed) {
  constexpr std::size_t kLeastChunk = std::size_t{1} << 20;
  while (chunk_ < chunks_.size() && used_ + needed > chunks_[chunk_].size()) {
    ++chunk_;
    used_ = 0;
  }
  if (chunk_ < chunks_.size()) return;
  chunks_.emplace_back();
  chunks_.back().resize(std::max(needed, kLeastChunk));
  std::fill_n(chunks_.back().data(), chunks_.back().size(), std::byte{0});
}

}  // namespace sightline::nn
