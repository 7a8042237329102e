#include "base/atomic_folder.hpp"

#include <sys/stat.h>

#include <string>
#include <system_error>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/fault.hpp"

namespace sightline {
namespace fs = std::filesystem;

namespace {

// "out" of "out/", so that the temporary folder is placed beside it.
fs::path without_slash(const fs::path& name) {
  return name.has_filename() ? name : name.parent_path();
}

[[noreturn]] void fail(const fs::path& folder, const std::string& reason, const Message& remedy) {
  throw Error(ExitCode::failed, "cannot make the folder '" + folder.string() + "': " + reason, remedy)
      .about(folder.string());
}

}  // namespace

AtomicFolder::AtomicFolder(const fs::path& name, bool replaces)
    : name_(without_link(without_slash(name))), replaces_(replaces) {
  std::error_code error;
  const bool is_free =
      !fs::exists(name_, error) || (fs::is_directory(name_, error) && fs::is_empty(name_, error));
  if (!is_free && !replaces_)
    fail(name_, "it exists already", "choose another name, or replace it with --overwrite=true"_message);
  place_ = name_of_its_own(name_);
  if (!fs::create_directory(place_, error)) fail(name_, error.message(), "choose another place for it");
  struct stat made {};
  if (::lstat(place_.c_str(), &made) == 0) {
    device_ = made.st_dev;
    inode_ = made.st_ino;
  }
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (!place_.empty() && is_in_place()) fs::remove_all(place_, ignored);
}

bool AtomicFolder::is_in_place() const {
  struct stat there {};
  return ::lstat(place_.c_str(), &there) == 0 && there.st_dev == device_ && there.st_ino == inode_;
}

void AtomicFolder::finish() {
  if (!is_in_place()) {
    fail(name_, "another program has moved or replaced '" + place_.string() + "'",
         "write to a folder that only you can change");
  }
  std::error_code error;
  fs::path former;
  if (replaces_ && fs::exists(name_, error)) {
    former = name_of_its_own(name_);
    fs::rename(name_, former, error);
  }
  if (fault::strikes(fault::Kind::write, "folder")) error = std::make_error_code(std::errc::io_error);
  if (!error) fs::rename(place_, name_, error);
  if (error) {
    std::error_code ignored;
    if (!former.empty()) fs::rename(former, name_, ignored);
    fail(name_, error.message(), "choose another place for it");
  }
  place_.clear();
  if (!former.empty()) fs::remove_all(former, error);
}

}  // namespace sightline
