#pragma once
/// Internal to src/gallery: the tables of a gallery file.

#include "faces/gallery/gallery.hpp"
#include "faces/gallery/sqlite.hpp"

namespace sightline::gallery {

/// Makes the tables in a database that has none yet; leaves a gallery as it is.
void make_tables(Database& database, const TemplateKind& kind);

/// Throws Error (input) for what is no gallery, one of a newer version, and one that is damaged or holds what
/// galleries do not have (a trigger could do what nobody has asked for).
/// @return the kind of its templates
TemplateKind check_tables(Database& database);

}  // namespace sightline::gallery
