#include "detection/identity_pool.hpp"

#include <algorithm>

namespace sightline {

void IdentityPool::add(const SharedAttributes& attributes) {
  if (!attributes || attributes->identities.empty()) return;
  const std::vector<Identity>& found = attributes->identities;
  const double furthest = found.back().distance;
  frames_ = std::min(frames_ + 1, kMemory);
  const double part = 1.0 / frames_;
  const auto towards = [&](double& mean, double distance) { mean += part * (distance - mean); };

  for (const Identity& one : found) {
    if (std::ranges::find(identities_, one.name, &Identity::name) == identities_.end())
      identities_.push_back({one.name, others_});
  }
  for (Identity& one : identities_) {
    const auto here = std::ranges::find(found, one.name, &Identity::name);
    towards(one.distance, here == found.end() ? furthest : here->distance);
  }
  towards(others_, furthest);
  limit_ = attributes->limit;
  std::ranges::stable_sort(identities_, {}, &Identity::distance);
  if (identities_.size() > kIdentities) identities_.resize(kIdentities);

  const Identity& nearest = identities_.front();
  const bool keeps = nearest.name == name_ && nearest.distance <= kKept * limit_;
  name_ = keeps || nearest.distance <= limit_ ? nearest.name : "";
}

void IdentityPool::keep_only(const std::vector<std::string>& known) {
  const auto is_forgotten = [&](const std::string& name) {
    return std::ranges::find(known, name) == known.end();
  };
  if (!name_.empty() && is_forgotten(name_)) *this = {};
  std::erase_if(identities_, [&](const Identity& one) { return is_forgotten(one.name); });
  if (identities_.empty()) *this = {};
}

SharedAttributes IdentityPool::pooled(const SharedAttributes& attributes) const {
  if (frames_ == 0) return attributes;
  DetectionAttributes values = attributes ? *attributes : DetectionAttributes{};
  values.name = name_.empty() ? kUnknownName : name_;
  values.distance = identities_.front().distance;
  values.identities = identities_;
  values.limit = limit_;
  return values;
}

}  // namespace sightline
