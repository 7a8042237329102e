#pragma once
/// Published networks with free licences, which `sightline network get` downloads and commands take by name.
/// Sightline ships none of them.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "family/family_command.hpp"

namespace sightline::network {

/// All of them are read rightly without settings. The checksum is that of the file itself, computed from a
/// copy.
struct PublishedNetwork {
  std::string_view name;     ///< in commands: "yolox-nano"
  std::string_view finds;    ///< "80 classes", "faces"
  std::string_view licence;  ///< of the network, as an SPDX identifier
  std::string_view origin;   ///< who made it, with the address of the project
  std::string_view carrier;  ///< licence of the repository that carries the file
  std::string_view address;  ///< of the file
  std::uint64_t bytes = 0;
  std::string_view sha256;  ///< 64 lower-case hexadecimal digits
  /// Measured with Sightline (tests/benchmarks/README.md); empty: not measured.
  std::optional<double> missed = {};        ///< share missed at 0.1 false boxes a picture
  std::optional<double> precision = {};     ///< COCO's average precision
  std::optional<double> milliseconds = {};  ///< for a frame
};

std::span<const PublishedNetwork> published_networks();
std::vector<std::string> published_names();

/// The network of that name; null if there is none.
const PublishedNetwork* find_published(std::string_view name);

/// The file that a download makes, in the user's data folder. Throws Error (usage) where no such folder is
/// known.
std::filesystem::path file_of(const PublishedNetwork& network);

/// The same. Throws Error (model), with the command that downloads it, if the file is not there.
std::filesystem::path downloaded_file(const PublishedNetwork& network);

/// Choices of a model: published networks and files.
Choices network_choices();

/// The table of all, at most 80 columns wide, and the terms of each.
std::string published_text(const ShowContext& context);

/// `sightline network get`.
std::unique_ptr<FamilyCommand> make_get_command();

}  // namespace sightline::network
