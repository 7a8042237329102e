#pragma once
/// Known people and their templates, in the form for a search.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "detection/known_names.hpp"
#include "faces/recognition/search.hpp"
#include "faces/recognition/templates.hpp"
#include "frame/attributes.hpp"

namespace sightline::recognition {

/// People at one moment. Immutable once it is shared: any thread may read.
struct KnownPeople {
  TemplateSet templates;
  std::vector<std::int32_t> owners;  ///< index into names, by template
  std::vector<std::string> names;
  std::uint32_t limit = 0;  ///< largest distance at which a face is taken for the nearest person's
};

/// Source of known people. Thread-safe.
class PeopleSource : public KnownNames {
 public:
  /// The current people; never null.
  virtual std::shared_ptr<const KnownPeople> current() const = 0;
  std::shared_ptr<const std::vector<std::string>> names() const final;
};

/// Matches requested per face, and people reported among them.
inline constexpr int kMatches = 16;
inline constexpr int kToldPeople = 5;

/// Names a face from its matches: the people among them by their nearest template, nearest first; ties go to
/// the first template. A person beyond the limit is unknown.
/// @param to_real  converts a search distance to a reported one; monotonic
void name_face(const KnownPeople& people, std::span<const Match> matches,
               const std::function<double(std::uint32_t)>& to_real, DetectionAttributes& attributes);

}  // namespace sightline::recognition
