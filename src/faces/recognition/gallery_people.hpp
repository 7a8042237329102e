#pragma once
/// The people of a gallery, for recognition.

#include <filesystem>
#include <memory>
#include <optional>

#include "faces/gallery/gallery.hpp"
#include "faces/recognition/known_people.hpp"
#include "faces/recognition/recogniser.hpp"

namespace sightline::recognition {

/// Limit of the distance at which a face matches a person.
struct LimitOptions {
  /// The distance itself, as results have it (Recogniser::real_distance).
  std::optional<double> distance;
  /// False-match rate of unknown people. Without either, the gallery's calibrated rate, or else
  /// kFalseAccepts.
  std::optional<double> false_accepts;

  static constexpr double kFalseAccepts = 0.01;
};

/// The kind of a recogniser's templates, for galleries.
gallery::TemplateKind template_kind(const Recogniser& recogniser);

/// A gallery's people as they are now.
/// Throws Error as gallery::Gallery does, and Error (model) for templates of another model.
std::shared_ptr<const KnownPeople> load_people(gallery::Gallery& gallery, const Recogniser& recogniser,
                                               const LimitOptions& limit);

/// The people of a file; nobody, with a warning, if the file is missing.
/// @param follow  reads the file again on a request after a change. While another program locks it, the
///                earlier people stay. A file that is gone, empty, damaged or no gallery gives nobody, with a
///                warning
/// Throws like load_people.
std::unique_ptr<PeopleSource> people_of(const std::filesystem::path& file,
                                        std::shared_ptr<const Recogniser> recogniser,
                                        const LimitOptions& limit, bool follow);

}  // namespace sightline::recognition
