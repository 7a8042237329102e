#include "training/image_set.hpp"

#include <algorithm>

namespace sightline::training {

ConcatenatedImages::ConcatenatedImages(std::vector<const ImageSet*> sets) : sets_(std::move(sets)) {
  for (const ImageSet* set : sets_) ends_.push_back(size() + set->size());
}

std::pair<const ImageSet*, std::size_t> ConcatenatedImages::find(std::size_t index) const {
  // The first set that ends after the index: empty ones are passed over.
  const auto end = std::upper_bound(ends_.begin(), ends_.end(), index);
  const ImageSet* const set = sets_.at(static_cast<std::size_t>(end - ends_.begin()));
  return {set, index - (*end - set->size())};
}

Image<std::uint8_t> ConcatenatedImages::load(std::size_t index) const {
  const auto [set, own] = find(index);
  return set->load(own);
}

std::string ConcatenatedImages::name(std::size_t index) const {
  const auto [set, own] = find(index);
  return set->name(own);
}

}  // namespace sightline::training
