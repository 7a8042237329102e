#pragma once
/// Report on processors' capabilities, for a terminal and as a page.

#include <span>
#include <string>

#include "characterisation/characteristics.hpp"

namespace sightline::apps {

/// A screen: caches, rates and latencies with their units, decisions, what was lost. Of a thorough
/// measurement also each figure's smallest, median and largest value.
std::string characterisation_text(const characterisation::Characteristics& processor);

/// A page of HTML that needs no other file, network or script: the same of each processor, every curve of all
/// of them in one plot a quantity with the spread of its repeats, all figures.
std::string characterisation_page(std::span<const characterisation::Characteristics> processors);

}  // namespace sightline::apps
