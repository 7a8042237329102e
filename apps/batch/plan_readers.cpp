#include "apps/batch/plan_readers.hpp"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/shipped_files.hpp"
#include "base/text.hpp"

namespace sightline::apps::batch {
namespace {

namespace fs = std::filesystem;

std::vector<gid_t> groups_of(uid_t user) {
  const passwd* const entry = ::getpwuid(user);
  if (!entry) return {};
  int count = 0;
  ::getgrouplist(entry->pw_name, entry->pw_gid, nullptr, &count);
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(count, 1)));
  count = static_cast<int>(groups.size());
  if (::getgrouplist(entry->pw_name, entry->pw_gid, groups.data(), &count) < 0) return {entry->pw_gid};
  groups.resize(static_cast<std::size_t>(count));
  return groups;
}

// The three bits that count for a user.
unsigned bits_for(const Reader& reader, const struct stat& status) {
  if (reader.user && *reader.user == status.st_uid) return (status.st_mode >> 6) & 7;
  if (std::ranges::find(reader.groups, status.st_gid) != reader.groups.end())
    return (status.st_mode >> 3) & 7;
  return status.st_mode & 7;
}

}  // namespace

bool Reader::can_read(const fs::path& file) const {
  constexpr unsigned kRead = 4, kSearch = 1;
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (error) return true;
  fs::path place;
  for (const fs::path& step : real) {
    place /= step;
    struct stat status {};
    if (::lstat(place.c_str(), &status) != 0) return true;
    const bool is_last = place == real;
    const unsigned needed = (is_last ? kRead : 0) | (S_ISDIR(status.st_mode) ? kSearch : 0);
    if ((bits_for(*this, status) & needed) != needed) return false;
  }
  return true;
}

bool is_public(const fs::path& file) {
  return Reader{}.can_read(file);
}

mode_t mask_for(const std::vector<fs::path>& files) {
  mode_t mask = 0;
  for (const fs::path& file : files) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) continue;
    if ((status.st_mode & S_IRGRP) == 0) mask |= S_IRWXG;
    if (!is_public(file)) mask |= S_IRWXO;
  }
  return mask;
}

PlanReaders::PlanReaders(const struct stat& plan) {
  if (plan.st_uid != ::geteuid() && plan.st_uid != 0)
    others_.push_back({plan.st_uid, groups_of(plan.st_uid)});
  if (plan.st_mode & S_IWGRP) others_.push_back({std::nullopt, {plan.st_gid}});
  if (plan.st_mode & S_IWOTH) others_.push_back({});
}

void PlanReaders::require(const fs::path& file) const {
  const bool can_all = std::ranges::all_of(others_, [&](const Reader& one) { return one.can_read(file); });
  // A program may lie in a home folder that others cannot enter.
  if (can_all || ships_with_program(file)) return;
  throw Error(ExitCode::input,
              "the plan names '" + file.string() + "', which other users who can change the plan cannot read",
              "plan the job yourself so that only you can write plan.json, or let these users read the file");
}

void PlanReaders::require_words(const std::vector<std::string>& words) const {
  if (!has_others()) return;
  for (const std::string& word : words) {
    const std::size_t sign = word.starts_with('-') ? word.find('=') : std::string::npos;
    const std::string value = sign == std::string::npos ? word : word.substr(sign + 1);
    require(value);
    for (const std::string& piece : split(value, ',')) require(piece);
  }
}

}  // namespace sightline::apps::batch
