#pragma once
/// Pictures in files: those of a folder, or of a text file that lists them.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "training/image_set.hpp"

namespace sightline::training {

class FileImageSet : public ImageSet {
 public:
  /// @param path    a folder (all its pictures, by name) or a text file that lists pictures, one a line
  /// @param folder  where the listed names are, if not beside the list
  /// Throws Error (input) if there is nothing, or a listed file is missing.
  explicit FileImageSet(const std::filesystem::path& path, const std::filesystem::path& folder = {});

  /// These files, which exist.
  explicit FileImageSet(std::vector<std::filesystem::path> files) : files_(std::move(files)) {}

  /// Adds all of another folder or list.
  void add(const FileImageSet& other) {
    files_.insert(files_.end(), other.files_.begin(), other.files_.end());
  }

  std::size_t size() const override { return files_.size(); }
  const std::filesystem::path& file(std::size_t index) const { return files_[index]; }
  Image<std::uint8_t> load(std::size_t index) const override;
  std::string name(std::size_t index) const override { return files_[index].filename().string(); }

 private:
  std::vector<std::filesystem::path> files_;
};

/// Pictures of a folder by their file names, with or without their endings, in that order. Throws Error
/// (input) where one is not there.
FileImageSet pictures_named(const std::vector<std::string>& names, const std::filesystem::path& folder);

}  // namespace sightline::training
