#include "apps/batch/job.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/cli/writable.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/fnv.hpp"
#include "base/hardware.hpp"
#include "base/json_problem.hpp"
#include "base/json_text.hpp"
#include "base/publish.hpp"
#include "base/shared_file.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace sightline::apps::batch {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kLayout = 1;  // of the folder and of parts
constexpr const char* kFolders[] = {"parts", "failed", "log"};
constexpr std::uint64_t kMaxRecordBytes = 64 << 10;  // of a failed attempt
constexpr std::size_t kMaxMessageBytes = 4096;       // in such a record
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json tracking_json(const TrackerOptions& o) {
  return {{"min_hits", o.min_hits},         {"max_misses", o.max_misses},
          {"max_lost", o.max_lost},         {"max_gap", o.max_gap},
          {"min_overlap", o.min_overlap},   {"start_score", number_or_null(o.start_score)},
          {"lowest_score", o.lowest_score}, {"max_pause", o.max_pause}};
}

TrackerOptions tracking_from(const Json& json) {
  TrackerOptions o;
  o.min_hits = json.at("min_hits");
  o.max_misses = json.at("max_misses");
  o.max_lost = json.at("max_lost");
  o.max_gap = json.at("max_gap");
  o.min_overlap = json.at("min_overlap");
  if (!json.at("start_score").is_null()) o.start_score = json.at("start_score");
  o.lowest_score = json.at("lowest_score");
  o.max_pause = json.at("max_pause");
  return o;
}

Json plan_json(const Plan& plan) {
  Json inputs = Json::array();
  for (const Input& input : plan.inputs) {
    Json parts = Json::array();
    for (const Part& part : input.parts) {
      Json one{part.begin, part.frames};
      if (!part.stamp.empty()) one.push_back(part.stamp);
      parts.push_back(std::move(one));
    }
    Json one{{"name", input.name}, {"stamp", input.stamp}, {"pictures", input.is_pictures}, {"parts", parts}};
    if (!input.problem.empty()) one["problem"] = input.problem;
    inputs.push_back(std::move(one));
  }
  return {{"layout", kLayout},
          {"version", plan.version},
          {"kind", plan.kind == Kind::texture ? "texture" : "objects"},
          {"folder", plan.folder},
          {"words", plan.words},
          {"model", plan.model},
          {"labels", plan.labels},
          {"tracking", plan.tracking ? tracking_json(*plan.tracking) : Json(nullptr)},
          {"chunk", plan.chunk},
          {"inputs", std::move(inputs)}};
}

Plan plan_from(const Json& json) {
  Plan plan;
  plan.kind = json.at("kind") == "texture" ? Kind::texture : Kind::objects;
  plan.version = json.at("version");
  plan.folder = json.at("folder");
  plan.words = json.at("words").get<std::vector<std::string>>();
  plan.model = json.at("model");
  plan.labels = json.at("labels").get<std::vector<std::string>>();
  if (!json.at("tracking").is_null()) plan.tracking = tracking_from(json.at("tracking"));
  plan.chunk = json.at("chunk");
  for (const Json& one : json.at("inputs")) {
    Input& input = plan.inputs.emplace_back();
    input.name = one.at("name");
    input.stamp = one.at("stamp");
    input.is_pictures = one.at("pictures");
    input.problem = one.value("problem", "");
    for (const Json& part : one.at("parts")) {
      const auto begin = part.at(0).get<double>();
      const auto frames = part.at(1).get<std::int64_t>();
      if (!(begin >= 0 && begin <= static_cast<double>(kMaxFrames)) || frames < 0 || frames > kMaxFrames)
        throw Error(ExitCode::usage, "the plan has a part without a valid begin or length",
                    "plan again in another folder");
      input.parts.push_back({begin, frames});
      if (part.size() > 2) input.parts.back().stamp = part.at(2);
    }
  }
  return plan;
}

double seconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// A plan that others can change counts as theirs.
mode_t own_mode(const fs::path& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 ? status.st_mode & ~mode_t{S_IWGRP | S_IWOTH} & 0777 : 0644;
}

// The record of a failed attempt; one that says little where it cannot be read.
Failure read_failure(const fs::path& folder, const std::string& name, const std::string& part) {
  try {
    const SharedFile file(folder, fs::path("failed") / name);
    const double time = seconds_of(file.status().st_mtim);
    if (file.size() > kMaxRecordBytes) return {part, name, 1, "its record is too large", "unknown", time};
    const std::string text = file.read(0, file.size());
    check_json_limits(text);
    const Json json = Json::parse(text);
    return {part, json.at("about"), json.at("code"), json.at("message"), json.at("machine"), time};
  } catch (const std::exception&) {  // a link; written by another version, or on a full disk
    return {part, name, 1, "its record cannot be read", "unknown", 0};
  }
}

// The file server's clock, which all times of files are by; this machine's may differ.
double time_of_server(const fs::path& folder) {
  const fs::path probe = temporary_name(folder / "time", "tmp");
  const AtomicFile file(probe, Readers::all, Naming::at_once);
  struct stat status {};
  const bool known = !file.error() && ::fstat(file.descriptor(), &status) == 0;
  ::unlink(probe.c_str());
  timespec own{};
  ::clock_gettime(CLOCK_REALTIME, &own);
  return seconds_of(known ? status.st_mtim : own);
}

}  // namespace

Job Job::create(const fs::path& folder, Plan plan) {
  std::vector<std::string> texts = plan.words;
  texts.push_back(plan.folder);
  for (const Input& input : plan.inputs) texts.push_back(input.name);
  for (const std::string& text : texts) {
    if (!utf8_code_points(text))
      throw Error(ExitCode::usage, "'" + text + "' is not UTF-8, and a plan cannot hold it", "rename it");
  }
  Job job(fs::absolute(folder).lexically_normal(), std::move(plan));
  const fs::path file = job.folder_ / "plan.json";
  for (const char* const name : kFolders) make_folder(job.folder_ / name);
  const std::string text = json_text(plan_json(job.plan_)) + '\n';
  if (text.size() > kMaxTextBytes) {
    throw Error(ExitCode::usage, fmt::format("the plan would have {} MiB", text.size() >> 20),
                "use a larger --chunk, or several jobs");
  }
  const fs::path temporary = temporary_name(file, "tmp");
  write_whole(temporary, text, "plan");
  ::chmod(temporary.c_str(), own_mode(temporary));
  if (publish(temporary, file, equal_files) == Published::differs) {
    fs::remove(temporary);
    throw Error(ExitCode::usage, "'" + folder.string() + "' has a job already", "choose another folder");
  }
  return job;
}

Job::Job(fs::path folder, Plan plan) : folder_(std::move(folder)), plan_(std::move(plan)) {
  number_parts();
}

Job::Job(const fs::path& folder) : folder_(fs::absolute(folder).lexically_normal()) {
  const fs::path file = folder_ / "plan.json";
  if (!has_regular_file(file)) {
    throw Error(ExitCode::usage, "there is no job in '" + folder.string() + "'",
                "run `sightline batch plan` with this folder; if it was interrupted, run it again");
  }
  for (const char* const name : kFolders) {
    struct stat status {};
    if (::lstat((folder_ / name).c_str(), &status) == 0 && S_ISDIR(status.st_mode)) continue;
    throw Error(ExitCode::failed, "'" + (folder_ / name).string() + "' is missing, or a link",
                "plan again in another folder");
  }
  const SharedFile stored(file);
  readers_ = PlanReaders(stored.status());
  if (stored.size() > kMaxTextBytes)
    throw Error(ExitCode::usage,
                fmt::format("'{}' is larger than {} MiB", file.string(), kMaxTextBytes >> 20),
                "plan again in another folder");
  const std::string text = stored.read(0, stored.size());
  check_json_limits(text);
  try {
    const Json json = Json::parse(text);
    const std::string version = json.at("version");
    if (json.at("layout") != kLayout || version != build_info().version) {
      throw Error(ExitCode::usage,
                  fmt::format("'{}' was planned by sightline {}, and this is {}", folder.string(), version,
                              build_info().version),
                  "use that version on all machines, or plan again in another folder");
    }
    plan_ = plan_from(json);
  } catch (const Json::exception& problem) {
    throw Error(ExitCode::usage, "'" + file.string() + "' is damaged: " + json_problem(problem),
                "plan again in another folder");
  }
  number_parts();
}

void Job::number_parts() {
  seed_ = fmt::format("{}|{}|{}|{}", kLayout, plan_.version, static_cast<int>(plan_.kind), plan_.model);
  for (const std::string& word : plan_.words) seed_ += '|' + word;
  std::int64_t frames = 0;
  for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
    for (std::size_t k = 0; k < plan_.inputs[i].parts.size(); ++k) {
      if (frames == 0) tasks_.emplace_back(parts_.size(), parts_.size());
      parts_.push_back({i, k});
      tasks_.back().second = parts_.size();
      frames += std::max<std::int64_t>(plan_.inputs[i].parts[k].frames, 1);
      if (frames >= plan_.chunk) frames = 0;
    }
  }
}

double Job::end(const Place& place) const {
  const std::vector<Part>& parts = input(place).parts;
  return place.part + 1 < parts.size() ? parts[place.part + 1].begin : kInfinity;
}

std::string Job::name(const Place& place) const {
  const std::string text = fmt::format("{}|{}|{}|{}|{}|{}|{}", seed_, place.input, input(place).name,
                                       input(place).stamp, part(place).begin, end(place), part(place).stamp);
  return fmt::format("{:016x}", fnv1a(text.data(), text.size()));
}

std::string Job::describe(const Place& place) const {
  const Input& in = input(place);
  if (in.parts.size() == 1) return fmt::format("'{}'", in.name);
  if (plan_.kind == Kind::texture)
    return fmt::format("'{}' from row {} of tiles on", in.name, part(place).begin);
  return fmt::format("'{}' from {}", in.name,
                     in.is_pictures ? fmt::format("picture {} on", part(place).begin + 1)
                                    : fmt::format("{:.3f} s on", part(place).begin));
}

void record_failure(const Job& job, const Failure& failure) {
  const Json json{{"part", failure.part},
                  {"about", failure.about.substr(0, kMaxMessageBytes)},
                  {"code", failure.code},
                  {"message", failure.message.substr(0, kMaxMessageBytes)},
                  {"machine", failure.machine}};
  write_whole(temporary_name(job.folder() / "failed" / failure.part, "json"), json_text(json, 2) + '\n',
              "record of a failure");
}

JobState read_state(const Job& job) {
  JobState state;
  state.now = time_of_server(job.folder() / "parts");
  const auto each_file = [&](const char* name, const auto& use) {
    std::error_code error;
    const fs::path folder = job.folder() / name;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
      use(entry->path());
    if (error)
      throw Error(ExitCode::failed, "cannot list '" + folder.string() + "': " + error.message(),
                  "check its permissions");
  };
  std::set<std::string> names;
  for (const Job::Place& place : job.parts()) names.insert(job.name(place));
  each_file("parts", [&](const fs::path& file) {
    const std::string name = file.filename().string();
    const std::string part = name.substr(0, name.find('.'));
    struct stat status {};
    if (!names.contains(part) || ::lstat(file.c_str(), &status) != 0)
      return;  // it has got its name meanwhile
    const double time = seconds_of(status.st_mtim);
    if (name == part && has_regular_file(file)) state.done[part] = time;
    if (name.ends_with(".running")) state.running[part] = std::max(state.running[part], time);
    if (name.ends_with(".differs")) state.differing[part].push_back(name);
  });
  each_file("failed", [&](const fs::path& file) {
    const std::string name = file.filename().string();
    const std::string part = name.substr(0, name.find('.'));
    if (!name.ends_with(".json") || !names.contains(part) || state.done.contains(part)) return;
    Failure attempt = read_failure(job.folder(), name, part);
    Failure& last = state.failed[part];
    if (last.part.empty() || last.time <= attempt.time) last = std::move(attempt);
  });
  return state;
}

std::vector<std::size_t> tasks_left(const Job& job, const JobState& state) {
  std::vector<std::size_t> left;
  for (std::size_t task = 0; task < job.tasks().size(); ++task) {
    const auto [begin, end] = job.tasks()[task];
    for (std::size_t i = begin; i < end; ++i) {
      if (state.done.contains(job.name(job.parts()[i]))) continue;
      left.push_back(task);
      break;
    }
  }
  return left;
}

void enter_folder_of(const Job& job) {
  std::error_code error;
  fs::current_path(job.plan().folder, error);
  if (!error) return;
  throw Error(ExitCode::input,
              "cannot enter '" + job.plan().folder + "', where the job was planned: " + error.message(),
              "give all machines the same view of files");
}

std::string stamp_of(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0)
    throw Error(ExitCode::input, "cannot open '" + file.string() + "': " + std::strerror(errno));
  if (!S_ISREG(status.st_mode)) throw Error(ExitCode::input, "'" + file.string() + "' is not a regular file");
  return fmt::format("{} {}.{:09}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

std::string stamp_of(const std::vector<fs::path>& pictures, std::size_t begin, std::size_t end) {
  std::uint64_t hash = kFnvSeed;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    std::string text = pictures[i].string() + '\n';
    std::error_code error;
    if (i >= begin && i < end && fs::exists(pictures[i], error)) text += stamp_of(pictures[i]) + '\n';
    hash = fnv1a(text.data(), text.size(), hash);
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace sightline::apps::batch
