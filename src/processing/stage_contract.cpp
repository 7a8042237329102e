#include "processing/stage_contract.hpp"

#include <algorithm>
#include <stdexcept>

namespace sightline {
namespace {

[[noreturn]] void broken(const std::string& what) {
  throw std::logic_error("stage contract: " + what);
}

std::string quoted(std::string_view name) {
  return "'" + std::string(name) + "'";
}

template <typename Range, typename Name>
void check_names(const Range& named, const Name& name_of, const std::string& what) {
  for (auto one = named.begin(); one != named.end(); ++one) {
    if (name_of(*one).empty()) broken(what + " has no name");
    const auto same = [&](const auto& other) { return name_of(other) == name_of(*one); };
    if (std::find_if(one + 1, named.end(), same) != named.end())
      broken("two of a kind: " + what + " " + quoted(name_of(*one)));
  }
}

}  // namespace

bool all_exact(std::span<const StageInfo> stages) {
  return std::ranges::all_of(stages, &StageInfo::exact);
}

void check_contract(std::span<const StageInfo> stages, std::span<const std::string_view> resources) {
  if (stages.empty() || stages.size() > kMostStages) broken(std::to_string(stages.size()) + " stages");
  if (resources.empty() || resources.size() > kMostStages)
    broken(std::to_string(resources.size()) + " resources");
  check_names(
      stages, [](const StageInfo& stage) { return stage.name; }, "a stage");
  check_names(
      resources, [](std::string_view name) { return name; }, "a resource");

  ResourceSet known;
  for (std::size_t i = 0; i < resources.size(); ++i) known.insert(i);
  const auto first_of = [&](ResourceSet set) { return quoted(resources[*set.first()]); };
  ResourceSet written{kFrameResource};
  ResourceSet unread;
  for (const StageInfo& stage : stages) {
    const std::string name = quoted(stage.name);
    const ResourceSet taken = stage.reads | stage.reuses;
    if (!((taken | stage.writes) - known).empty()) broken(name + " names a resource that is not there");
    if (stage.writes.contains(kFrameResource)) broken(name + " writes the frame");
    if (stage.writes.empty()) broken(name + " writes nothing");
    if (const ResourceSet missing = taken - written; !missing.empty())
      broken(name + " reads " + first_of(missing) + ", which no earlier stage writes");
    if (const ResourceSet lost = (unread - taken) & stage.writes; !lost.empty())
      broken(name + " overwrites " + first_of(lost) + ", which no stage has read");
    unread = (unread - taken) | stage.writes;
    written = written | stage.writes;
  }
  ResourceSet result = stages.back().writes;
  for (const StageInfo& stage : stages) {
    if (stage.makes_result) result = result | stage.writes;
  }
  if (const ResourceSet useless = unread - result; !useless.empty())
    broken(first_of(useless) + " is written and never read");
}

std::vector<DeviceSegment> plan_transfers(std::span<const StageInfo> stages, const StageSet& on_device) {
  std::vector<DeviceSegment> segments;
  ResourceSet on_host{kFrameResource}, there;  // where each resource is up to date
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageInfo& stage = stages[i];
    if (on_device[i]) {
      if (i == 0 || !on_device[i - 1]) segments.push_back({i, i, {}, {}});
      DeviceSegment& segment = segments.back();
      segment.last = i + 1;
      const ResourceSet missing = stage.reads - there;
      segment.uploads = segment.uploads | missing;
      there = there | missing | stage.writes;
      on_host = on_host - stage.writes;
    } else {
      const ResourceSet missing = stage.reads - on_host;
      if (!missing.empty() && !segments.empty())
        segments.back().downloads = segments.back().downloads | missing;
      on_host = on_host | missing | stage.writes;
      there = there - stage.writes;
    }
  }
  // The result is the host's.
  if (!stages.empty() && !segments.empty())
    segments.back().downloads = segments.back().downloads | (stages.back().writes - on_host);
  return segments;
}

}  // namespace sightline
