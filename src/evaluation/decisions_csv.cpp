#include <algorithm>
#include <fstream>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/text.hpp"
#include "base/text_encoding.hpp"
#include "base/text_rows.hpp"
#include "evaluation/decisions.hpp"

namespace sightline {

using namespace text_rows;

namespace {

constexpr char kDecisionHeader[] =
    "detector,threshold,true_positives,false_negatives,false_positives,true_negatives,accuracy,precision,"
    "recall,"
    "f1";
constexpr std::size_t kDecisionColumns = 9;  // behind the detector's name

Decision read_decision(std::string_view text, const Row& row) {
  const auto fields = split_at_commas(text);
  if (fields.size() != kDecisionColumns)
    row.refuse(std::to_string(1 + fields.size()) + " columns instead of 10");
  const auto count = [&](std::size_t i, const char* what) { return whole_number(fields[i], what, 0, row); };
  return {fields[0].empty() ? kFindsNothing : number(fields[0], "threshold", row),
          {count(1, "true positives"), count(2, "false negatives"), count(3, "false positives"),
           count(4, "true negatives")}};
}

void add_decision(const Decision& decision, const Row& row, Decisions& decisions) {
  if (decisions.points.empty()) {
    if (decision.threshold != kFindsNothing)
      row.refuse("a detector's first row must have no threshold (nothing is found)");
  } else {
    const Decision& before = decisions.points.back();
    if (!(decision.threshold < before.threshold)) row.refuse("thresholds must fall from row to row");
    if (decision.counts.positives() != before.counts.positives() ||
        decision.counts.negatives() != before.counts.negatives())
      row.refuse("the number of pictures differs from the row before");
  }
  decisions.points.push_back(decision);
}

}  // namespace

std::string decisions_as_csv(std::span<const Decisions> detectors) {
  std::string table = std::string(kDecisionHeader) + '\n';
  for (const Decisions& one : detectors) {
    const std::string name = csv_field(one.name) + ',';
    for (const auto& [threshold, c] : one.points) {
      table += name + (threshold == kFindsNothing ? "" : shortest(threshold));
      for (const std::int64_t count :
           {c.true_positives, c.false_negatives, c.false_positives, c.true_negatives})
        table += ',' + std::to_string(count);
      for (const double value : {c.accuracy(), c.precision(), c.recall(), c.f1()})
        table += ',' + shortest(value);
      table += '\n';
    }
  }
  return table;
}

bool holds_decisions(const std::filesystem::path& file) {
  refuse_special_file(file);
  std::ifstream in(file);
  std::string first;
  return std::getline(in, first) && without_byte_order_mark(first).starts_with(kDecisionHeader);
}

std::vector<Decisions> load_decisions(const std::filesystem::path& file) {
  std::vector<Decisions> detectors;
  bool begun = false;
  for_each_row(file, "decisions", [&](std::string_view text, const Row& row) {
    if (!begun) {
      begun = true;
      if (text != kDecisionHeader)
        row.refuse("not a table of decisions; use one written by `evaluate frames --decisions`");
      return;
    }
    const std::string name = take_csv_field(text, row);
    const auto found = std::ranges::find(detectors, name, &Decisions::name);
    add_decision(read_decision(text, row), row,
                 found != detectors.end() ? *found : detectors.emplace_back(Decisions{name, {}}));
  });
  if (detectors.empty()) throw Error(ExitCode::input, "'" + file.string() + "' holds no decision");
  return detectors;
}

}  // namespace sightline
