#pragma once
/// What counting patterns costs, as a page.

#include <string>

#include "texture/measurement.hpp"

namespace sightline::apps {

/// A page of HTML that needs no other file, network or script: whole times and kernels' times over the
/// pictures' sizes and over work-groups, the parts of a whole time, what the increments cost without the
/// reading, and all of it as tables.
std::string texture_page(const texture::TextureMeasurement& measurement);

}  // namespace sightline::apps
