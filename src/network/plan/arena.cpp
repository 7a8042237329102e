#include "network/plan/arena.hpp"

#include <algorithm>

namespace sightline::nn {
namespace {

bool are_needed_together(const Storage& a, const Storage& b) {
  return a.first_wave <= b.last_wave && b.first_wave <= a.last_wave;
}

// The lowest place of a storage beside others, which are sorted by offset.
std::int64_t free_offset(const Storage& storage, const std::vector<Storage*>& others, std::int64_t spare) {
  std::int64_t offset = 0;
  for (const Storage* const other : others) {
    if (!are_needed_together(storage, *other)) continue;
    if (offset + aligned_bytes(storage.bytes, spare) <= other->offset) break;
    offset = std::max(offset, other->offset + aligned_bytes(other->bytes, spare));
  }
  return offset;
}

}  // namespace

std::int64_t aligned_bytes(std::int64_t bytes, std::int64_t spare) {
  constexpr std::int64_t kAlignment = 64;
  return (bytes + spare + kAlignment - 1) / kAlignment * kAlignment;
}

std::vector<std::int64_t> offsets_in_row(const std::vector<std::int64_t>& bytes) {
  std::vector<std::int64_t> offsets{0};
  for (const std::int64_t one : bytes) offsets.push_back(offsets.back() + aligned_bytes(one));
  return offsets;
}

std::int64_t place_in_arena(std::vector<Storage*> storages, std::int64_t spare) {
  std::vector<Storage*> placed;
  // The largest ones first: small ones fit between them.
  std::ranges::stable_sort(storages, [](const Storage* a, const Storage* b) { return a->bytes > b->bytes; });
  std::int64_t size = 0;
  for (Storage* const one : storages) {
    one->offset = free_offset(*one, placed, spare);
    size = std::max(size, one->offset + aligned_bytes(one->bytes, spare));
    const auto by_offset = [](const Storage* a, const Storage* b) { return a->offset < b->offset; };
    placed.insert(std::ranges::upper_bound(placed, one, by_offset), one);
  }
  return size;
}

}  // namespace sightline::nn
