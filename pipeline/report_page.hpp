#pragma once
/// The files that the report page is put together from. Private to the outputs.

#include <string>
#include <string_view>

namespace sightline::pipeline {

/// "report_page.html", "report_page.css" or "report_page.js"; throws std::out_of_range for any other name.
std::string_view report_page_file(const std::string& name);

}  // namespace sightline::pipeline
