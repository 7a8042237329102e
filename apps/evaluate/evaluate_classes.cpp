// `sightline evaluate classes`: how often a network that classifies pictures names their class.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/commands.hpp"
#include "apps/cli/stop.hpp"
#include "apps/cli/writable.hpp"
#include "apps/common/detector_options.hpp"
#include "apps/common/media_options.hpp"
#include "base/error.hpp"
#include "base/json_text.hpp"
#include "base/nearest.hpp"
#include "base/utf8.hpp"
#include "pipeline/runs/reader_source.hpp"
#include "pipeline/session/pipeline.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;

struct ClassesArguments {
  std::string folder, json;
  media::ReadOptions reading;
  DetectorOptions detector;
};

// Pictures of one class, or of all.
struct ClassCounts {
  std::string name;
  std::int64_t pictures = 0, best = 0, among = 0;  // whose class is the best one, or among those reported

  static double share(std::int64_t of, std::int64_t all) {
    return all > 0 ? static_cast<double>(of) / static_cast<double>(all) : 0;
  }
  double top_1() const { return share(best, pictures); }
  double top_k() const { return share(among, pictures); }
};

// Counts pictures whose class is known.
class ClassSink : public pipeline::Sink {
 public:
  ClassSink(int label, ClassCounts& counts, std::size_t& most)
      : label_(label), counts_(counts), most_(most) {}
  void accept(const Frame&, const FrameResult& result) override {
    if (result.status != FrameStatus::ok) return;
    const auto place = std::ranges::find(result.objects, label_, &Detection::label);
    ++counts_.pictures;
    counts_.best += place != result.objects.end() && place == result.objects.begin();
    counts_.among += place != result.objects.end();
    most_ = std::max(most_, result.objects.size());
  }

 private:
  int label_;
  ClassCounts& counts_;
  std::size_t& most_;
};

// The folders of a folder, by the class of their name.
std::vector<std::pair<int, fs::path>> class_folders(const std::string& folder,
                                                    const std::vector<std::string>& labels) {
  std::vector<std::pair<int, fs::path>> folders;
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  if (error)
    throw Error(ExitCode::input, "cannot list the folder '" + folder + "' (" + error.message() + ")",
                "check the name and the path");
  for (const fs::directory_entry& entry : entries) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    const auto label = std::ranges::find(labels, name);
    if (label == labels.end())
      throw Error(ExitCode::input, "'" + entry.path().string() + "' is named like no class of the network",
                  nearest_or_all(name, labels));
    folders.emplace_back(static_cast<int>(label - labels.begin()), entry.path());
  }
  if (folders.empty())
    throw Error(ExitCode::input, "'" + folder + "' has no folders",
                "name a folder that has one for each class, with its pictures");
  std::ranges::sort(folders);
  return folders;
}

std::string table_of(const std::vector<ClassCounts>& rows, std::size_t most) {
  std::size_t width = 5;
  for (const ClassCounts& row : rows) width = std::max(width, printable(row.name).size());
  const std::string top = most > 1 ? fmt::format("{:>10}", fmt::format("top-{}", most)) : "";
  std::string text = fmt::format("{:<{}}{:>10}{:>10}{}\n", "class", width, "pictures", "top-1", top);
  for (const ClassCounts& row : rows) {
    text += fmt::format("{:<{}}{:>10}{:>10.4f}", printable(row.name), width, row.pictures, row.top_1());
    text += most > 1 ? fmt::format("{:>10.4f}\n", row.top_k()) : "\n";
  }
  return text;
}

nlohmann::ordered_json classes_json(const std::vector<ClassCounts>& rows, std::size_t most) {
  const auto one = [](const ClassCounts& row) {
    return nlohmann::ordered_json{
        {"class", row.name}, {"pictures", row.pictures}, {"top_1", row.top_1()}, {"top_k", row.top_k()}};
  };
  nlohmann::ordered_json json{{"k", most}, {"all", one(rows.back())}, {"classes", nlohmann::json::array()}};
  json["all"].erase("class");
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) json["classes"].push_back(one(rows[i]));
  return json;
}

int run_evaluate_classes(ClassesArguments a) {
  require_writable(a.json);
  const DetectorEngine engine = a.detector.make();
  const DetectorInfo& info = engine.detector().info();
  if (!info.classifies_frames)
    throw Error(ExitCode::usage, "the detector does not classify whole pictures: " + info.model,
                "use `sightline evaluate frames`");
  a.reading.stop = &stop_requested();
  a.reading.keep_colour = reads_colour(engine.detector());
  pipeline::Pipeline pipeline(engine.detector(), engine.devices(), engine.resolve(), {engine.threads});
  std::vector<ClassCounts> rows;
  ClassCounts all{"all"};
  std::size_t most = 0;
  for (const auto& [label, folder] : class_folders(a.folder, info.labels)) {
    ClassCounts& row = rows.emplace_back(ClassCounts{folder.filename().string()});
    media::Reader reader(folder.string(), a.reading);
    pipeline::ReaderSource source(reader);
    ClassSink sink(label, row, most);
    pipeline::RunOptions options;
    options.stop = a.reading.stop;
    const pipeline::RunReport report = pipeline.run({&source, folder.string(), {&sink}, {}}, options);
    throw_if_stopped();
    if (report.failed > 0) throw Error(ExitCode::failed, report.first_failure);
    all.pictures += row.pictures;
    all.best += row.best;
    all.among += row.among;
  }
  rows.push_back(all);
  std::fputs(table_of(rows, most).c_str(), stdout);
  write_if_named(a.json, [&] { return json_text(classes_json(rows, most), 2) + '\n'; });
  return 0;
}

}  // namespace

void add_evaluate_classes(CLI::App& evaluate, Common& common) {
  auto a = std::make_shared<ClassesArguments>();
  OptionSet options;
  options.add("folder", &a->folder, "Folder of folders of pictures, each named like a class").require();
  options.add("--json FILE", &a->json, "Write the accuracies as JSON").checked_by(OutputFile{{".json"}});
  add_limit_options(options, a->reading);
  a->detector.add_to(options);
  add_command(
      evaluate, common, "classes",
      "Measure how often a network that classifies whole pictures names their class: as its best one, "
      "and among its best K with --top K",
      options, [a] { return run_evaluate_classes(*a); });
}

}  // namespace sightline::apps
