#include "base/file_names.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include "base/error.hpp"

namespace sightline {
namespace fs = std::filesystem;
namespace {

/// `%f`, which strftime does not have.
std::string put_frame(const std::string& pattern, std::int64_t frame) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%06lld", static_cast<long long>(frame));
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      text += pattern[i];
    } else if (pattern[++i] == 'f') {
      text += digits;
    } else {
      text += '%';
      text += pattern[i];
    }
  }
  return text;
}

fs::path with_number(const fs::path& file, std::int64_t number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "-%03lld", static_cast<long long>(number));
  return file.parent_path() / (file.stem().string() + digits + file.extension().string());
}

/// The highest number that a file of this name has; 0 if there is none.
std::int64_t highest_number(const fs::path& file) {
  const std::string start = file.stem().string() + "-", end = file.extension().string();
  const fs::path parent = file.parent_path();
  std::int64_t highest = 0;
  std::error_code error;
  for (fs::directory_iterator entry(parent.empty() ? "." : parent, error), last; !error && entry != last;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.size() <= start.size() + end.size() || !name.starts_with(start) || !name.ends_with(end))
      continue;
    const std::string digits = name.substr(start.size(), name.size() - start.size() - end.size());
    const bool is_number =
        digits.size() >= 3 && digits.size() <= 9 &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (is_number) highest = std::max<std::int64_t>(highest, std::stoll(digits));
  }
  return highest;
}

bool is_device(const fs::path& file) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  return fs::is_character_file(status) || fs::is_fifo(status) || fs::is_socket(status);
}

}  // namespace

std::string expand_pattern(const std::string& pattern, std::int64_t time, std::int64_t frame) {
  const auto seconds = static_cast<std::time_t>(time);
  std::tm local{};
  localtime_r(&seconds, &local);
  // The blank distinguishes an empty result from one that does not fit.
  const std::string format = put_frame(pattern, frame) + " ";
  std::vector<char> text(format.size() * 16 + 256);
  const std::size_t length = std::strftime(text.data(), text.size(), format.c_str(), &local);
  std::string result(text.data(), length == 0 ? 0 : length - 1);
  std::replace(result.begin(), result.end(), '%', '_');
  return result;
}

FileNames::FileNames(const std::string& wish, const std::string& default_name, bool numbered)
    : pattern_(wish), numbered_(numbered) {
  if (wish.empty()) throw Error(ExitCode::usage, "the name of the output is empty");
  std::error_code ignored;
  const bool folder = wish.ends_with('/') || fs::is_directory(wish, ignored);
  if (folder) pattern_ = (fs::path(wish) / default_name).string();
  if (pattern_.find('%') == std::string::npos) return;
  numbered_ = false;
  makes_folders_ = folder || fs::path(pattern_).parent_path().string().find('%') != std::string::npos;
}

std::string FileNames::example() const {
  return pattern_.find('%') == std::string::npos ? pattern_ : expand_pattern(pattern_, std::time(nullptr));
}

bool FileNames::create(const fs::path& file) const {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor >= 0) return close(descriptor) == 0;
  if (errno != EEXIST) fail(file, std::strerror(errno));
  return false;
}

void FileNames::fail(const fs::path& file, const std::string& reason) const {
  throw Error(ExitCode::failed, "cannot write '" + file.string() + "' (" + reason + ")",
              "check that the folder exists and may be written to")
      .about(file.string());
}

std::string FileNames::reserve(std::int64_t frame) {
  const std::lock_guard lock(mutex_);
  const bool plain = pattern_.find('%') == std::string::npos;
  const fs::path file = plain ? pattern_ : expand_pattern(pattern_, std::time(nullptr), frame);
  if (is_device(file)) return file.string();
  if (makes_folders_) {
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error) fail(file, error.message());
  }
  if (file.string() != last_) {
    last_number_ = 0;
    if (!numbered_ && create(file)) {
      last_ = file.string();
      return last_;
    }
    last_number_ = highest_number(file);
  } else if (last_number_ == 0) {
    last_number_ = highest_number(file);
  }
  last_ = file.string();
  for (;;) {
    const fs::path next = with_number(file, ++last_number_);
    if (create(next)) return next.string();
  }
}

}  // namespace sightline
