#include "apps/evaluate/class_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace sightline::apps {
namespace {

std::string column(const std::optional<double>& figure) {
  return figure ? fmt::format("{:>9.4f}", *figure) : fmt::format("{:>9}", "-");
}

std::string columns(const CocoFigures& figures, std::initializer_list<std::size_t> places) {
  std::string text;
  for (const std::size_t i : places) text += column(figures[i]);
  return text + '\n';
}

nlohmann::ordered_json figures_json(const CocoFigures& figures) {
  nlohmann::ordered_json json;
  for (std::size_t i = 0; i < figures.size(); ++i)
    json[kCocoFigureNames[i]] = figures[i] ? nlohmann::ordered_json(*figures[i]) : nlohmann::ordered_json();
  return json;
}

}  // namespace

ClassReport::ClassReport(const std::map<int, std::string>& classes, const std::vector<std::string>& labels)
    : labels_(labels.size()) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (std::ranges::none_of(classes, [&](const auto& one) { return one.second == labels[i]; })) continue;
    if (places.emplace(labels[i], classes_.size()).second) classes_.push_back({labels[i], {}});
    of_label_[static_cast<int>(i)] = places.at(labels[i]);
  }
  for (const auto& [number, name] : classes) {
    if (const auto place = places.find(name); place != places.end()) {
      of_truth_[number] = place->second;
    } else {
      lacking_[number] = name;
    }
  }
}

ClassReport::ClassReport(int label, const std::string& name)
    : classes_{{name, {}}}, of_label_{{label, 0}}, takes_all_(true) {}

void ClassReport::add(std::span<const Detection> found, std::span<const TruthBox> truth) {
  std::vector<std::vector<Detection>> found_of(classes_.size());
  std::vector<std::vector<TruthBox>> truth_of(classes_.size());
  for (const Detection& one : found) {
    if (const auto place = of_label_.find(one.label); place != of_label_.end())
      found_of[place->second].push_back(one);
  }
  for (const TruthBox& one : truth) {
    if (const auto place = of_truth_.find(one.label); takes_all_ || place != of_truth_.end()) {
      truth_of[takes_all_ ? 0 : place->second].push_back(one);
    } else if (!one.ignore) {
      const auto name = lacking_.find(one.label);
      ++not_detected_[name == lacking_.end() ? "no name" : name->second];
    }
  }
  for (std::size_t i = 0; i < classes_.size(); ++i) classes_[i].scores.add(found_of[i], truth_of[i]);
}

void ClassReport::finish() {
  std::vector<CocoFigures> figures;
  std::int64_t objects = 0;
  for (const Class& one : classes_) {
    if (one.scores.objects() == 0) continue;
    objects += one.scores.objects();
    figures.push_back(one.scores.figures());
    rows_.push_back({one.name, one.scores.objects(), figures.back()});
  }
  rows_.push_back({"mean", objects, mean_of(figures)});
}

std::string ClassReport::not_measured() const {
  std::string text;
  if (!not_detected_.empty()) {
    std::vector<std::string> names;
    for (const auto& [name, objects] : not_detected_)
      names.push_back(fmt::format("{} ({})", printable(name), objects));
    text +=
        fmt::format("not measured: objects of classes that the detector lacks: {}\n", fmt::join(names, ", "));
  }
  if (const std::size_t marked = rows_.size() - 1; marked < labels_)
    text += fmt::format("not measured: {} of the detector without marked objects\n",
                        counted(static_cast<std::int64_t>(labels_ - marked), "label"));
  return text;
}

std::string ClassReport::text() const {
  const CocoFigures& mean = rows_.back().figures;
  const std::size_t classes = rows_.size() - 1;
  const auto line = [&](const char* title, std::initializer_list<std::size_t> places) {
    return fmt::format("{:<28}", title) + columns(mean, places);
  };
  std::string text = fmt::format("\nCOCO's measures of {}\n{:<28}{:>9}{:>9}{:>9}{:>9}\n",
                                 classes == 1 ? "'" + printable(rows_.front().name) + "'"
                                              : "the mean of " + std::to_string(classes) + " classes",
                                 "object size", "all", "small", "medium", "large");
  text += line("AP, overlaps 0.50 to 0.95", {0, 3, 4, 5}) + line("AP, overlap 0.50", {1}) +
          line("AP, overlap 0.75", {2}) + line("AR, 100 boxes per frame", {8, 9, 10, 11}) +
          line("AR, 10 boxes per frame", {7}) + line("AR, 1 box per frame", {6});
  if (classes > 1) {
    text +=
        fmt::format("\n{:<28}{:>9}{:>9}{:>9}{:>9}{:>9}\n", "class", "objects", "AP", "AP50", "AP75", "AR100");
    for (const Row& row : rows_)
      text +=
          fmt::format("{:<28}{:>9}", printable(row.name), row.objects) + columns(row.figures, {0, 1, 2, 8});
  }
  return text + not_measured();
}

std::string ClassReport::as_csv() const {
  std::string table = fmt::format("class,objects,{}\n", fmt::join(kCocoFigureNames, ","));
  for (const Row& row : rows_) {
    table += csv_field(row.name) + ',' + std::to_string(row.objects);
    for (const auto& figure : row.figures) table += figure ? ',' + shortest(*figure) : ",";
    table += '\n';
  }
  return table;
}

nlohmann::ordered_json ClassReport::as_json() const {
  nlohmann::ordered_json json;
  json["mean"] = figures_json(rows_.back().figures);
  json["classes"] = nlohmann::ordered_json::array();
  for (const Row& row : std::span(rows_).first(rows_.size() - 1)) {
    nlohmann::ordered_json one{{"class", row.name}, {"objects", row.objects}};
    one.update(figures_json(row.figures));
    json["classes"].push_back(one);
  }
  json["not_detected"] = nlohmann::ordered_json::array();
  for (const auto& [name, objects] : not_detected_)
    json["not_detected"].push_back({{"class", name}, {"objects", objects}});
  return json;
}

}  // namespace sightline::apps
