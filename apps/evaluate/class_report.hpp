#pragma once
/// Report of `evaluate frames` on each class, by COCO's rule.

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "evaluation/coco_figures.hpp"

namespace sightline::apps {

/// Collects frames, then reports on them. Thread-safety: none.
class ClassReport {
 public:
  /// Compares the classes of the truth with the labels of the detector that have their names.
  ClassReport(const std::map<int, std::string>& classes, const std::vector<std::string>& labels);
  /// Compares all marked objects with one label.
  ClassReport(int label, const std::string& name);

  void add(std::span<const Detection> found, std::span<const TruthBox> truth);
  /// Computes the figures of all frames; before any of the following.
  void finish();

  /// Printed summary: means, figures of each class if there are several, classes that are left out.
  std::string text() const;
  /// A table with the header `class,objects,AP,...` (kCocoFigureNames), a row a class and a last one, `mean`.
  std::string as_csv() const;
  /// The same as an object with `mean`, `classes`, and `not_detected`: classes that the detector lacks.
  nlohmann::ordered_json as_json() const;

 private:
  struct Class {
    std::string name;
    CocoClass scores;
  };
  struct Row {
    std::string name;
    std::int64_t objects;
    CocoFigures figures;
  };
  std::string not_measured() const;

  std::vector<Class> classes_;
  std::map<int, std::size_t> of_label_, of_truth_;    // places in classes_
  bool takes_all_ = false;                            // marked objects, of any class
  std::map<int, std::string> lacking_;                // classes of the truth that the detector lacks
  std::map<std::string, std::int64_t> not_detected_;  // their objects
  std::size_t labels_ = 1;                            // of the detector
  std::vector<Row> rows_;                             // of the classes that have objects, and the mean
};

}  // namespace sightline::apps
