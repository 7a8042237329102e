#pragma once
/// Zones and lines as TOML text, the same for the program and the C library.

#include <string>

#include "apps/common/toml_options.hpp"
#include "detection/track_counter.hpp"

namespace sightline::apps {

/// `lines.NAME = { from = [x, y], to = [x, y], frames = 2 }`, `zones.NAME = { polygon = [[x, y], ...],
/// inertia = 3, dwell = 10 }`, for both `anchor = "bottom"` or `"center"` and `labels = [...]`, and `lost =
/// 5`, as CountRules has them. Throws Error (usage) for unknown keys, and if there is neither line nor zone.
CountRules count_rules(const TomlOptions& options);

/// The same from a file. Throws Error (usage) with the file's name and the line.
CountRules read_count_rules(const std::string& file);

}  // namespace sightline::apps
