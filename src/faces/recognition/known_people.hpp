#pragma once
/// Who can be recognised: people and their templates, as a search takes them.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "detection/known_names.hpp"
#include "faces/recognition/search.hpp"
#include "faces/recognition/templates.hpp"
#include "processing/attributes.hpp"

namespace sightline::recognition {

/// People at one moment. Immutable once it is shared: any thread may read.
struct KnownPeople {
  TemplateSet templates;
  std::vector<std::int32_t> owners;  ///< by template: an index into names
  std::vector<std::string> names;
  std::uint32_t limit = 0;  ///< largest distance at which a face is taken for the nearest person's
};

/// Where known people come from. Thread-safe.
class PeopleSource : public KnownNames {
 public:
  /// As they are now; never null.
  virtual std::shared_ptr<const KnownPeople> current() const = 0;
  std::shared_ptr<const std::vector<std::string>> names() const final;
};

/// How many matches of a face are asked for, and how many of the people among them are told.
inline constexpr int kMatches = 16;
inline constexpr int kToldPeople = 5;

/// What the matches of a face say of it: the people among them with their nearest template, nearest first;
/// of equally near ones, the one whose template comes first. Who is beyond the limit is unknown.
/// @param to_real  makes distances for people out of those of a search; rises with them
void name_face(const KnownPeople& people, std::span<const Match> matches,
               const std::function<double(std::uint32_t)>& to_real, DetectionAttributes& attributes);

}  // namespace sightline::recognition
