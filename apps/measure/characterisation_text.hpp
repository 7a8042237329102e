#pragma once
/// What a processor can do, for a terminal.

#include <string>

#include "characterisation/characteristics.hpp"

namespace sightline::apps {

/// A screen: caches, rates and latencies with their units, decisions, what was lost. Of a thorough
/// measurement also each figure's smallest, median and largest value.
std::string characterisation_text(const characterisation::Characteristics& processor);

/// "48 KiB", "1.5 MiB", "2 GiB".
std::string bytes_text(double bytes);

/// Three digits where there is a fraction: "0.873", "12.1", "1340".
std::string digits_text(double value);

/// "AMD EPYC, the CPU by itself" or the device's name with its type.
std::string processor_title(const characterisation::Characteristics& processor);

}  // namespace sightline::apps
