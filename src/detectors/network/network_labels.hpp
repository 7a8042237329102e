#pragma once
/// Class names of a network: whose they are, and whether they fit its outputs.

#include <string>
#include <vector>

#include "detectors/network/network.hpp"

namespace sightline::network {

/// Class names with their origin.
struct GivenLabels {
  std::vector<std::string> names;  ///< by number; "" where the file has none
  bool by_user = false;
  bool is_unreadable = false;  ///< the file has some that cannot be read
};

/// The user's names, or those of the file. Throws Error (usage).
GivenLabels given_labels(const FileFacts& file, const Settings& settings);

/// Sets a name for each class of the network's scheme. Throws Error where there are more or fewer names:
/// usage where they are the user's, model where they are the file's.
/// @param told  OutputOrigins::classes_behind_labels
void set_labels(Network& network, const Settings& settings, const GivenLabels& given, std::int64_t told);

}  // namespace sightline::network
