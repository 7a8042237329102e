#include "faces/recognition/known_people.hpp"

#include <algorithm>

namespace sightline::recognition {

std::shared_ptr<const std::vector<std::string>> PeopleSource::names() const {
  const std::shared_ptr<const KnownPeople> people = current();
  return {people, &people->names};
}

void name_face(const KnownPeople& people, std::span<const Match> matches,
               const std::function<double(std::uint32_t)>& to_real, DetectionAttributes& attributes) {
  attributes.name = kUnknownName;
  attributes.limit = to_real(people.limit);
  if (matches.empty()) return;
  for (const Match& match : matches) {
    const std::string& name = people.names[static_cast<std::size_t>(people.owners[match.index])];
    const bool is_told =
        std::ranges::find(attributes.identities, name, &Identity::name) != attributes.identities.end();
    if (is_told) continue;
    if (attributes.identities.size() == kToldPeople) break;
    attributes.identities.push_back({name, to_real(match.distance)});
  }
  attributes.distance = to_real(matches.front().distance);
  if (matches.front().distance <= people.limit) attributes.name = attributes.identities.front().name;
}

}  // namespace sightline::recognition
