#pragma once
/// Zones and lines of `detect`.

#include <string>
#include <utility>
#include <vector>

#include "detection/result_writer.hpp"
#include "detection/track_counter.hpp"
#include "pipeline/report/document.hpp"
#include "pipeline/session/pipeline.hpp"

namespace sightline::apps {

/// Counts the tracks of one input. Notes must outlive it; they refer to it.
class CountSink : public pipeline::Sink {
 public:
  CountSink(CountRules rules, ResultNotes& notes, std::vector<std::string> labels)
      : counter_(std::move(rules)), notes_(notes), labels_(std::move(labels)) {
    notes_.counter = &counter_;
  }
  void accept(const Frame&, const FrameResult& result) override {
    notes_.events = {};
    if (result.status == FrameStatus::ok)
      notes_.events = counter_.update(result.time, {result.width, result.height}, result.objects, labels_);
  }
  const TrackCounter& counter() const { return counter_; }

 private:
  TrackCounter counter_;
  ResultNotes& notes_;
  std::vector<std::string> labels_;
};

/// Totals of several inputs.
class Counts {
 public:
  /// @param labels  of the detector; throws Error (usage) if a rule names another one
  Counts(CountRules rules, const std::vector<std::string>& labels);

  void add(const TrackCounter& input);

  const CountRules& rules() const { return rules_; }
  /// "door: 3 in, 1 out; yard: 5 entered, 4 left, 1 inside", a line.
  /// @param is_whole  all inputs were searched to their ends; otherwise the text says "incomplete"
  std::string text(bool is_whole) const;
  /// Tables of lines and of zones.
  report::Section section(bool is_whole) const;

 private:
  CountRules rules_;
  std::vector<CountTotals> lines_, zones_;
};

}  // namespace sightline::apps
