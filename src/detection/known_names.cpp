#include "detection/known_names.hpp"

#include <algorithm>
#include <iterator>

namespace sightline {
namespace {

class JoinedNames : public KnownNames {
 public:
  explicit JoinedNames(std::vector<std::shared_ptr<const KnownNames>> several)
      : several_(std::move(several)) {}

  std::shared_ptr<const std::vector<std::string>> names() const override {
    auto all = std::make_shared<std::vector<std::string>>();
    for (const auto& one : several_) {
      const auto names = one->names();
      all->insert(all->end(), names->begin(), names->end());
    }
    return all;
  }

 private:
  std::vector<std::shared_ptr<const KnownNames>> several_;
};

}  // namespace

std::shared_ptr<const KnownNames> joined(const std::vector<std::shared_ptr<const KnownNames>>& several) {
  std::vector<std::shared_ptr<const KnownNames>> naming;
  std::ranges::copy_if(several, std::back_inserter(naming), [](const auto& one) { return one != nullptr; });
  if (naming.size() > 1) return std::make_shared<JoinedNames>(std::move(naming));
  return naming.empty() ? nullptr : naming.front();
}

SharedAttributes without_forgotten(const SharedAttributes& attributes,
                                   const std::vector<std::string>& known) {
  const auto is_forgotten = [&](const std::string& name) {
    return std::ranges::find(known, name) == known.end();
  };
  if (!attributes || attributes->name.empty()) return attributes;
  const bool loses_name = attributes->name != kUnknownName && is_forgotten(attributes->name);
  if (!loses_name && std::ranges::none_of(attributes->identities, is_forgotten, &Identity::name))
    return attributes;
  DetectionAttributes left = *attributes;
  std::erase_if(left.identities, [&](const Identity& one) { return is_forgotten(one.name); });
  if (loses_name) left.name = kUnknownName;
  left.distance.reset();
  if (!left.identities.empty()) left.distance = left.identities.front().distance;
  return left;
}

}  // namespace sightline
