#pragma once
/// What processors can do, as a page.

#include <span>
#include <string>

#include "characterisation/characteristics.hpp"

namespace sightline::apps {

/// A page of HTML that needs no other file, network or script: what follows for each processor, every curve
/// of all of them in one plot a quantity with the spread of its repeats, levels of caches, all figures.
std::string characterisation_page(std::span<const characterisation::Characteristics> processors);

}  // namespace sightline::apps
