#include "marked_pictures.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <set>

#include "base/error.hpp"

namespace sightline::apps {

using training::FileImageSet;

FileImageSet collect_pictures(const std::vector<std::string>& paths, const std::string& folder) {
  FileImageSet set(paths.front(), folder);
  for (std::size_t i = 1; i < paths.size(); ++i) set.add(FileImageSet(paths[i], folder));
  return set;
}

GroundTruth load_marks(const std::vector<std::string>& files, const std::string& label) {
  GroundTruth truth;
  for (const std::string& file : files) {
    GroundTruth one = load_marked_boxes(file);
    if (!label.empty()) one.keep_label(label);
    truth.add(std::move(one));
  }
  return truth;
}

std::string unlike_names(const std::string& picture, const std::string& mark) {
  const std::filesystem::path there(picture), marked(mark);
  std::string text = fmt::format("'{}' is there, '{}' is marked", picture, mark);
  if (there.stem() == marked.stem() && there.extension() != marked.extension()) {
    text += "; the names' endings differ";
  } else if (marked.has_parent_path()) {
    text += "; marks need the names of pictures without folders";
  }
  return text;
}

std::vector<training::MarkedObject> marked_objects(const FileImageSet& pictures,
                                                   const std::vector<std::string>& lists,
                                                   const std::string& label, const std::string& of_which) {
  GroundTruth truth = load_marks(lists, label);
  std::vector<training::MarkedObject> objects;
  std::set<std::string> found;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const auto marked = truth.images.find(pictures.name(i));
    if (marked == truth.images.end()) continue;
    for (const TruthBox& one : marked->second) {
      if (!one.ignore) objects.push_back({i, one.box});
    }
    found.insert(marked->first);
  }
  if (objects.empty()) {
    std::string problem = fmt::format("no box of '{}' is in a picture of {}", lists.front(), of_which);
    if (found.empty() && pictures.size() > 0 && !truth.images.empty())
      problem += ": " + unlike_names(pictures.name(0), truth.images.begin()->first);
    throw Error(ExitCode::input, problem, "every line begins with a picture's file name, without folders");
  }
  std::erase_if(truth.images,
                [&](const auto& one) { return one.second.empty() || found.contains(one.first); });
  if (!truth.images.empty())
    spdlog::warn("{} marked picture(s) are not among {} and are left out, '{}' for one", truth.images.size(),
                 of_which, truth.images.begin()->first);
  return objects;
}

}  // namespace sightline::apps
