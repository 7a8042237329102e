#pragma once
/// Internal to src/gallery: the tables of a gallery file.

#include "faces/gallery/gallery.hpp"
#include "faces/gallery/sqlite.hpp"

namespace sightline::gallery {

/// Makes the tables in a database that has none yet; leaves a gallery as it is.
void make_tables(Database& database, const TemplateKind& kind);

/// Throws Error (input) if the database is no gallery, of a newer version, damaged, or has other objects
/// (such as triggers, which could run foreign code).
/// @return the kind of its templates
TemplateKind check_tables(Database& database);

}  // namespace sightline::gallery
