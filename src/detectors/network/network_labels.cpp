#include "detectors/network/network_labels.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "detectors/network/labels.hpp"

namespace sightline::network {
namespace {

std::vector<std::string> default_labels(const Scheme& scheme) {
  std::vector<std::string> labels;
  if (scheme.classes == 1 && !scheme.object.empty()) return {scheme.object};
  const bool is_face =
      scheme.points == 5 || (scheme.classes == 1 && scheme.type == "ssd") || scheme.type == "scrfd";
  if (scheme.classes == 80 && scheme.box != BoxForm::picture) return coco_labels(false);
  if (scheme.coco91) {
    labels = coco_labels(true);
    if (scheme.has_background || scheme.classes == 90) labels.erase(labels.begin());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i].empty()) labels[i] = "class " + std::to_string(i);
    }
  } else if (scheme.classes == 1) {
    return {is_face ? "face" : "object"};
  }
  for (std::size_t i = labels.size(); i < static_cast<std::size_t>(scheme.classes); ++i)
    labels.push_back("class " + std::to_string(i));
  labels.resize(static_cast<std::size_t>(scheme.classes));
  return labels;
}

[[noreturn]] void refuse_labels(const GivenLabels& given, std::int64_t classes, const Settings& settings) {
  const std::string names = counted(static_cast<std::int64_t>(given.names.size()), "class name");
  const std::string has = counted(classes, "class");
  if (given.by_user)
    throw Error(ExitCode::usage,
                fmt::format("the key `labels` gives {}, but the network '{}' has {}", names,
                            settings.file.string(), has),
                "give as many names as it has classes");
  throw Error(
      ExitCode::model,
      fmt::format("the network '{}' has {}, but its metadata has {}", settings.file.string(), has, names),
      fmt::format("give {} names with the key `labels` of a configuration", classes));
}

}  // namespace

GivenLabels given_labels(const FileFacts& file, const Settings& settings) {
  if (!settings.labels.empty()) return {settings.labels, true};
  if (const auto found = file.metadata.find("model_info labels"); found != file.metadata.end())
    return {labels_from(found->second, "", settings.file.string())};
  if (auto names = labels_of_metadata(file.metadata)) return {std::move(*names)};
  return {{}, false, true};
}

void set_labels(Network& network, const Settings& settings, const GivenLabels& given, std::int64_t told) {
  Scheme& scheme = network.scheme;
  const bool fits_told = told > 0 && told <= static_cast<std::int64_t>(kMostClasses);
  if (fits_told && given.names.empty() && !scheme.has_background) scheme.classes = static_cast<int>(told);
  const std::int64_t classes = fits_told && !scheme.has_background ? told : scheme.classes;
  check_labels(given.names);
  network.labels = given.names;
  if (given.is_unreadable) {
    logger().warn("{}: the class names in its metadata cannot be read; classes are called by their number",
                  network.name);
    network.labels.assign(static_cast<std::size_t>(classes), "");
  } else if (given.names.empty()) {
    network.labels = default_labels(scheme);
  }
  if (static_cast<std::int64_t>(network.labels.size()) != classes) refuse_labels(given, classes, settings);
  std::size_t unnamed = 0;
  for (std::size_t i = 0; i < network.labels.size(); ++i) {
    if (!network.labels[i].empty()) continue;
    network.labels[i] = "class " + std::to_string(i);
    ++unnamed;
  }
  if (unnamed > 0 && !given.is_unreadable)
    logger().warn("{}: {} of its {} classes have no name and are called by their number", network.name,
                  unnamed, classes);
}

}  // namespace sightline::network
