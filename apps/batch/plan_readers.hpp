#pragma once
/// Who may have written a plan, and what these users can read. A job's folder belongs to several users, so a
/// plan could name files of the user who works on it that its author cannot read.

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sightline::apps::batch {

/// A class of users. Access is judged by owners and permission bits.
struct Reader {
  std::optional<uid_t> user;  ///< none: any user
  std::vector<gid_t> groups;
  /// Whether the user can read a file or list a folder, through the folders that lead to it. Links are
  /// resolved. True for one that is not there.
  bool can_read(const std::filesystem::path& file) const;
};

/// Whether every user can read it.
bool is_public(const std::filesystem::path& file);
/// Permissions that files made from others should not have: those that one of the others lacks.
mode_t mask_for(const std::vector<std::filesystem::path>& files);

/// The users who may have written a plan, besides the one who works on it and root.
class PlanReaders {
 public:
  PlanReaders() = default;
  /// @param plan  status of its file
  explicit PlanReaders(const struct stat& plan);
  bool has_others() const { return !others_.empty(); }
  /// Throws Error (input) where one of them cannot read the file.
  void require(const std::filesystem::path& file) const;
  /// The same for the files that options name.
  void require_words(const std::vector<std::string>& words) const;

 private:
  std::vector<Reader> others_;
};

}  // namespace sightline::apps::batch
