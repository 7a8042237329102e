#include "apps/common/marked_pictures.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"

namespace sightline::apps {

using training::FileImageSet;

FileImageSet collect_pictures(const std::vector<std::string>& paths, const std::string& folder) {
  FileImageSet set(paths.front(), folder);
  for (std::size_t i = 1; i < paths.size(); ++i) set.add(FileImageSet(paths[i], folder));
  return set;
}

void refuse_shared_pictures(const FileImageSet& positives, const std::string& with,
                            const FileImageSet& negatives, const std::string& without) {
  const auto same_name = [](const std::filesystem::path& file) {
    std::error_code error;
    const std::filesystem::path name = std::filesystem::canonical(file, error);
    return error ? file : name;
  };
  std::set<std::filesystem::path> files;
  for (std::size_t i = 0; i < positives.size(); ++i) files.insert(same_name(positives.file(i)));
  std::int64_t shared = 0;
  std::string first;
  for (std::size_t i = 0; i < negatives.size(); ++i) {
    if (!files.contains(same_name(negatives.file(i)))) continue;
    if (shared++ == 0) first = negatives.file(i).string();
  }
  if (shared == 0) return;
  throw Error(ExitCode::usage,
              fmt::format("{} of {} {} also in {}, for example '{}'", counted(shared, "picture"), without,
                          shared == 1 ? "is" : "are", with, first),
              fmt::format("give {} pictures without the object", without));
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
  std::string text = fmt::format("the folder has '{}', the marks have '{}'", picture, mark);
  if (there.stem() == marked.stem() && there.extension() != marked.extension()) {
    text += "; the extensions differ";
  } else if (marked.has_parent_path()) {
    text += "; leave folders out of the marks";
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
    throw Error(ExitCode::input, problem, "begin every line with a picture's file name, without folders");
  }
  std::erase_if(truth.images,
                [&](const auto& one) { return one.second.empty() || found.contains(one.first); });
  if (!truth.images.empty())
    spdlog::warn("{} missing in {} and skipped, for example '{}'",
                 counted(std::ssize(truth.images), "marked picture"), of_which, truth.images.begin()->first);
  return objects;
}

}  // namespace sightline::apps
