#pragma once
/// The people of a gallery, for recognition.

#include <filesystem>
#include <memory>
#include <optional>

#include "faces/gallery/gallery.hpp"
#include "faces/recognition/known_people.hpp"
#include "faces/recognition/recogniser.hpp"

namespace sightline::recognition {

/// Up to where a face is taken for the nearest person.
struct LimitOptions {
  /// The distance itself, as results have it (Recogniser::real_distance).
  std::optional<double> distance;
  /// Share of strangers that may be taken for somebody. Without either, what the gallery was calibrated to,
  /// or else kFalseAccepts.
  std::optional<double> false_accepts;

  static constexpr double kFalseAccepts = 0.01;
};

/// The kind of a recogniser's templates, for galleries.
gallery::TemplateKind template_kind(const Recogniser& recogniser);

/// A gallery's people as they are now.
/// Throws Error as gallery::Gallery does, and Error (model) for templates of another model.
std::shared_ptr<const KnownPeople> load_people(gallery::Gallery& gallery, const Recogniser& recogniser,
                                               const LimitOptions& limit);

/// The people of a file. Where the file is not there, nobody is known, and a warning says so.
/// @param follow  the file is read again when people are asked for after a change. While another program has
///                it locked, those of before stay. Of a file that is gone, empty, damaged or no gallery,
///                nobody is known, and a warning says so
/// Throws as load_people.
std::unique_ptr<PeopleSource> people_of(const std::filesystem::path& file,
                                        std::shared_ptr<const Recogniser> recogniser,
                                        const LimitOptions& limit, bool follow);

}  // namespace sightline::recognition
