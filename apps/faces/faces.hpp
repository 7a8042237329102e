#pragma once
/// Options and helpers that the subcommands of `sightline faces` share.

#include <cstdint>
#include <filesystem>
#include <string>

#include "apps/cli/commands.hpp"
#include "faces/gallery/gallery.hpp"

namespace sightline::apps {

/// --gallery.
struct GalleryOption {
  std::string name;  ///< empty: Gallery::default_file

  void add_to(OptionSet& options);
  std::filesystem::path file() const;
  gallery::Gallery open(gallery::Gallery::Access access) const;
};

/// "2026-11-23 05:38", in local time.
std::string time_text(std::int64_t seconds);

/// A share in percent with two digits that count: "2.5%", "0.13%".
std::string percent(double share);

void add_faces_add(CLI::App& faces, Common& common);
void add_faces_calibrate(CLI::App& faces, Common& common);
void add_faces_list(CLI::App& faces, Common& common);

}  // namespace sightline::apps
