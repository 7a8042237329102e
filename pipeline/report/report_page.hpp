#pragma once
/// The page that reports are put on.

#include <string>

namespace sightline::pipeline {

/// A part of a page under a heading, as wide as it has to be.
/// @param title    text
/// @param content  markup; empty: no part at all
std::string report_card(const std::string& title, const std::string& content);

/// A page of HTML that needs no other file and no network.
/// @param title     text
/// @param sections  markup
/// @param guide     markup: entries of the list that says how to read them
std::string report_page(const std::string& title, const std::string& sections, const std::string& guide);

}  // namespace sightline::pipeline
