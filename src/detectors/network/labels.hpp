#pragma once
/// Names of the classes that a network knows.

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sightline::network {

inline constexpr std::size_t kMostClasses = 100'000;

/// COCO's 80 classes, or its 91 numbers from 0 on, of which some stand for nothing ("").
std::vector<std::string> coco_labels(bool with_gaps);

/// Names in a file's metadata, by class number, "" where a number has none; empty where the file has no
/// names. Nothing where it has some that cannot be read.
std::optional<std::vector<std::string>> labels_of_metadata(
    const std::map<std::string, std::string>& metadata);

/// Names that the user gives: a file with one on each line, or a list separated by commas or, as OpenVINO has
/// it, by blanks, where an underscore stands for a blank. A file may also hold a JSON list or object. Throws
/// Error (usage), also where the text names a file that is not there.
/// @param file   the text as a file, relative to the configuration; empty: it is none
/// @param where  for the message
std::vector<std::string> labels_from(const std::string& text, const std::string& file,
                                     const std::string& where);

/// Names of classes, which each result repeats. Throws Problem where they are too long.
void check_labels(const std::vector<std::string>& labels);

}  // namespace sightline::network
