#pragma once
/// The page that reports are put on.

#include <string>
#include <string_view>

namespace sightline::pipeline {

/// The files that it is put together from: "report_page.html", "report_page.css" or "report_page.js"; throws
/// std::out_of_range for any other name.
std::string_view report_page_file(const std::string& name);

/// A cell of a table.
std::string table_cell(const std::string& text);

/// A part of a page under a heading, as wide as it has to be.
/// @param title    text
/// @param content  markup; empty: no part at all
std::string report_card(const std::string& title, const std::string& content);

/// A page of HTML that needs no other file and no network.
/// @param title     text
/// @param sections  markup
/// @param guide     markup: entries of the list that says how to read them
/// @param data      JSON for the script, without '<': `measurements` with a timeline for each section that
/// has
///                  one
std::string report_page(const std::string& title, const std::string& sections, const std::string& guide,
                        std::string_view data = R"({"measurements":[]})");

}  // namespace sightline::pipeline
