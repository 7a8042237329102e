#include "apps/detect/count_sink.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/utf8.hpp"

namespace sightline::apps {
namespace {

void add_totals(CountTotals& sum, const CountTotals& one) {
  sum.in += one.in;
  sum.out += one.out;
  sum.entered += one.entered;
  sum.left += one.left;
  sum.inside += one.inside;
}

void check_labels(const std::string& rule, const std::vector<std::string>& wanted,
                  const std::vector<std::string>& labels) {
  for (const std::string& label : wanted) {
    if (std::ranges::find(labels, label) != labels.end()) continue;
    throw Error(ExitCode::usage, "'" + rule + "' counts '" + label + "', and the detector has no such label",
                nearest_or_all(label, labels));
  }
}

}  // namespace

Counts::Counts(CountRules rules, const std::vector<std::string>& labels)
    : rules_(std::move(rules)), lines_(rules_.lines.size()), zones_(rules_.zones.size()) {
  for (const CountLine& line : rules_.lines) check_labels(line.name, line.labels, labels);
  for (const CountZone& zone : rules_.zones) check_labels(zone.name, zone.labels, labels);
}

void Counts::add(const TrackCounter& input) {
  for (std::size_t i = 0; i < lines_.size(); ++i) add_totals(lines_[i], input.line_totals()[i]);
  for (std::size_t i = 0; i < zones_.size(); ++i) add_totals(zones_[i], input.zone_totals()[i]);
}

std::string Counts::text(bool is_whole) const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < lines_.size(); ++i)
    parts.push_back(fmt::format("{}: {} in, {} out", rules_.lines[i].name, lines_[i].in, lines_[i].out));
  for (std::size_t i = 0; i < zones_.size(); ++i)
    parts.push_back(fmt::format("{}: {} entered, {} left, {} inside", rules_.zones[i].name, zones_[i].entered,
                                zones_[i].left, zones_[i].inside));
  return printable(fmt::format("{}{}", is_whole ? "" : "incomplete: ", fmt::join(parts, "; "))) + '\n';
}

report::Section Counts::section(bool is_whole) const {
  report::Section section{is_whole ? "Lines and zones" : "Lines and zones (incomplete)"};
  if (!lines_.empty()) {
    report::Table table{{{"line"}, {"in"}, {"out"}}};
    for (std::size_t i = 0; i < lines_.size(); ++i)
      table.rows.push_back({rules_.lines[i].name, lines_[i].in, lines_[i].out});
    section.blocks.push_back({table});
  }
  if (!zones_.empty()) {
    report::Table table{{{"zone"}, {"entered"}, {"left"}, {"inside at the end"}}};
    for (std::size_t i = 0; i < zones_.size(); ++i)
      table.rows.push_back({rules_.zones[i].name, zones_[i].entered, zones_[i].left, zones_[i].inside});
    section.blocks.push_back({table});
  }
  return section;
}

}  // namespace sightline::apps
