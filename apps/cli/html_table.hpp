#pragma once
/// Tables of pages.

#include <string>
#include <vector>

namespace sightline::apps {

/// Text of heads and rows, escaped; the first of each row is its head.
std::string html_table(const std::vector<std::string>& heads,
                       const std::vector<std::vector<std::string>>& rows);

}  // namespace sightline::apps
