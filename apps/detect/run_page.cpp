#include "apps/detect/run_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "apps/common/quality_options.hpp"
#include "base/duration_text.hpp"
#include "base/text.hpp"

namespace sightline::apps {
namespace {

using namespace report;
using History = pipeline::RunHistory::Summary;

constexpr double kChartWidth = 720;  // a page of 800 pixels shows all of it
constexpr std::size_t kMostPoints = 600;
constexpr std::size_t kMostTracks = 5'000, kShownTracks = 25, kShownLines = 6;
constexpr int kBestPictures = 6, kBestWidth = 236;

const NamedTexts kFindsGuide{
    {"Objects over time", "The most objects of each label in one frame, of the frames around that moment."},
    {"Best pictures", "The frame with the most objects of each sixth of the run."}};
const NamedTexts kRateGuide{{"Rate", "Delivered frames per second. A camera's rate is the limit."}};
const NamedTexts kSettingGuide{{"Setting",
                                "Operating point that searched the frames: the most accurate one is at the "
                                "top, the fastest at the bottom. "
                                "A frame's result depends on the frame and the operating point alone."},
                               {"Missed",
                                "Share of objects missed at 1e-5 false positives per window, from the "
                                "evaluation stored in the model. It "
                                "compares sizes of a model, not scale steps."}};

Chart over_time(const std::string& label, double seconds) {
  Chart chart{.label = label};
  chart.x = {
      .low = 0, .high = std::max(seconds, 1e-3), .text = [](double at) { return fmt::format("{:g} s", at); }};
  chart.width = kChartWidth;
  chart.height = 220;
  return chart;
}

// Omits the last interval if it is too short for a rate.
Chart rate_chart(const History& history, const pipeline::QualityObjective& objective) {
  Chart chart = over_time("Frames per second over time", history.seconds);
  chart.y.label = "frames/s";
  Line rates{"frames/s", {}, Line::Form::stairs};
  double most = 0;
  for (std::size_t i = 0; i < history.frames.size(); ++i) {
    const double begin = history.interval * static_cast<double>(i);
    const double length = std::min(history.interval, history.seconds - begin);
    if (length < history.interval / 2 && i > 0) break;
    const double rate = static_cast<double>(history.frames[i]) / std::max(length, 1e-3);
    most = std::max(most, rate);
    rates.points.push_back({begin, rate});
  }
  if (rates.points.empty()) return chart;
  rates.points.push_back(
      {history.interval * static_cast<double>(rates.points.size()), rates.points.back().y});
  chart.lines = {rates};
  if (objective.kind == pipeline::QualityObjective::Kind::hold && objective.limit <= 4 * most)
    chart.lines.push_back(
        {describe(objective), {{0, objective.limit}, {chart.x.high, objective.limit}}, Line::Form::plain});
  return chart;
}

Chart setting_chart(const History& history) {
  Chart chart = over_time("The setting over time", history.seconds);
  if (history.settings.size() < 2 || history.turns.empty()) return chart;
  for (const OperatingPoint& one : history.settings) chart.y.names.push_back(one.name);
  Line settings{"", {}, Line::Form::stairs, 3};
  for (const auto& turn : history.turns)
    settings.points.push_back({turn.seconds, static_cast<double>(turn.setting)});
  settings.points.push_back({history.seconds, settings.points.back().y});
  chart.lines = {settings};
  chart.height = 30 * static_cast<double>(history.settings.size());
  return chart;
}

Table settings_table(const pipeline::RunReport& report) {
  using Use = pipeline::OperatingPointUse;
  double frames = 0;
  for (const Use& use : report.settings) frames += static_cast<double>(use.frames);
  if (frames == 0) return {};
  return table_of<Use>(report.settings,
                       {{"setting", [](auto& use) { return use.setting.name; }},
                        {"frames", &Use::frames},
                        {"share",
                         [frames](auto& use) {
                           return fmt::format("{:.1f}%", 100 * static_cast<double>(use.frames) / frames);
                         }},
                        {"missed", [](auto& use) {
                           return use.setting.missed ? fmt::format("{:.2f}%", 100 * *use.setting.missed)
                                                     : "-";
                         }}});
}

Table stages_table(const pipeline::RunReport& report) {
  using Stage = pipeline::StageTime;
  const double frames = static_cast<double>(std::max<std::int64_t>(report.frames, 1));
  return table_of<Stage>(
      report.stages,
      {{"stage", &Stage::name},
       {"ms per frame",
        [frames](auto& stage) { return fmt::format("{:.2f}", 1000 * stage.seconds / frames); }},
       {"where", &Stage::processor}});
}

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k > bytes.size() ? '=' : kDigits[three >> (18 - 6 * k) & 63];
  }
  return text;
}

// Makes each two intervals one, of the larger value.
void halve(std::vector<std::int64_t>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i / 2] = i % 2 == 0 ? values[i] : std::max(values[i / 2], values[i]);
  values.resize((values.size() + 1) / 2);
}

void raise(std::vector<std::int64_t>& values, std::size_t at, std::int64_t value) {
  if (values.size() <= at) values.resize(at + 1);
  values[at] = std::max(values[at], value);
}

// The sheet as a picture within the page; empty where there was no frame.
std::string picture_of(const media::ContactSheet& sheet) {
  if (sheet.offered() == 0) return {};
  return "<img alt=\"frames with the most objects\" style=\"max-width:100%\" src=\"data:image/png;base64," +
         base64(sheet.png("")) + "\">";
}

}  // namespace

RunFinds::RunFinds(std::vector<std::string> labels, bool has_one_input)
    : labels_(std::move(labels)),
      found_(labels_.size()),
      best_(kBestPictures, kBestWidth),
      interval_(has_one_input ? 0.1 : 1),
      is_by_time_(has_one_input) {}

// Point of time, or of a frame's number, in the lines. Doubles the interval where there would be too many.
std::size_t RunFinds::point_at(double at) {
  while (at >= interval_ * kMostPoints) {
    halve(has_frame_);
    for (Found& one : found_) halve(one.over_time);
    interval_ *= 2;
  }
  return static_cast<std::size_t>(at / interval_);
}

void RunFinds::add(std::size_t input, bool is_picture, const Frame& frame, const FrameResult& result) {
  if (result.status != FrameStatus::ok) return;
  if (is_picture && is_by_time_) {
    is_by_time_ = false;
    interval_ = 1;
  }
  const double at = is_by_time_ ? std::max(0.0, result.time) : static_cast<double>(frames_);
  ++frames_;
  const std::size_t point = point_at(at);
  raise(has_frame_, point, 1);
  std::vector<std::int64_t> counts(found_.size());
  for (const Detection& object : result.objects) {
    ++counts[static_cast<std::size_t>(object.label)];
    if (object.track <= 0) continue;
    const TrackKey key{input, object.label, object.track};
    if (tracks_.size() >= kMostTracks && !tracks_.contains(key)) continue;
    Track& track = tracks_[key];
    if (track.frames++ == 0) track.first = result.time;
    track.last = result.time;
    const std::string& name = object.attributes.name();
    if (!name.empty() && name != kUnknownName) track.name = name;
  }
  for (std::size_t label = 0; label < counts.size(); ++label) {
    if (counts[label] == 0) continue;
    Found& found = found_[label];
    found.objects += counts[label];
    ++found.frames;
    found.most = std::max(found.most, counts[label]);
    raise(found.over_time, point, counts[label]);
  }
  best_.add(frame, result.objects, labels_);
}

// An interval without a searched frame keeps the value before it: its objects are unknown, not none.
Chart RunFinds::chart() const {
  const std::size_t count = has_frame_.size();
  Chart chart = over_time("Objects over time", interval_ * static_cast<double>(count));
  if (!is_by_time_) chart.x.text = [](double number) { return fmt::format("frame {:g}", number); };
  chart.y.label = "objects in a frame";
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < found_.size(); ++i)
    if (found_[i].objects > 0) order.push_back(i);
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return found_[i].objects; });
  order.resize(std::min(order.size(), kShownLines));
  for (const std::size_t i : order) {
    Line line{labels_[i], {}, Line::Form::stairs};
    for (std::size_t point = 0; point < count; ++point) {
      if (has_frame_[point] == 0) continue;
      const auto most = point < found_[i].over_time.size() ? found_[i].over_time[point] : 0;
      line.points.push_back({interval_ * static_cast<double>(point), static_cast<double>(most)});
    }
    line.points.push_back({chart.x.high, line.points.back().y});
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

Table RunFinds::labels_table() const {
  Table table;
  table.columns = {{"label"}, {"objects"}, {"frames with it"}, {"most in one frame"}};
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const Found& found = found_[i];
    if (found.objects > 0 || found_.size() == 1)
      table.rows.push_back({labels_[i], found.objects, found.frames, found.most});
  }
  return table;
}

Table RunFinds::tracks_table() const {
  std::vector<std::pair<TrackKey, Track>> longest(tracks_.begin(), tracks_.end());
  std::ranges::stable_sort(longest, std::greater(), [](const auto& one) { return one.second.frames; });
  Table table;
  if (longest.size() > kShownTracks)
    table.caption = fmt::format("The longest {} of {} tracks", kShownTracks, longest.size());
  longest.resize(std::min(longest.size(), kShownTracks));
  table.columns = {{"track"}, {"name"}, {"from"}, {"to"}, {"frames"}};
  if (std::ranges::all_of(longest, [](const auto& one) { return one.second.name.empty(); }))
    table.columns.erase(table.columns.begin() + 1);
  for (const auto& [key, track] : longest) {
    const auto& [input, label, identity] = key;
    std::vector<Cell>& row = table.rows.emplace_back();
    row.push_back(fmt::format("{} #{}", labels_[static_cast<std::size_t>(label)], identity));
    if (table.columns.size() == 5) row.emplace_back(track.name);
    row.emplace_back(duration_text(track.first));
    row.emplace_back(duration_text(track.last));
    row.emplace_back(track.frames);
  }
  return table;
}

std::vector<Section> RunFinds::sections() const {
  if (frames_ == 0) return {};
  std::vector<Section> all{{"What was found", {{labels_table()}}}};
  if (frames_ > 1) all.push_back({"Objects over time", {{chart()}}});
  if (best_.offered() > 0) all.push_back({"Best pictures", {{Raw{picture_of(best_)}}}});
  if (!tracks_.empty()) all.push_back({"Tracks", {{tracks_table()}}});
  return all;
}

std::string InputDigest::text() const {
  return (is_whole ? "" : "incomplete ") + digits;
}

Section digests_section(const std::vector<InputDigest>& digests) {
  Table table;
  table.columns = {{"input"}, {"digest"}};
  for (const InputDigest& one : digests) table.rows.push_back({one.input, one.text()});
  return {"Digests of results", {{table}}};
}

std::string run_page(const std::string& input, const DetectorEngine& engine,
                     const pipeline::Controller& controller, const pipeline::RunReport& report,
                     const pipeline::RunHistory& run, const RunFinds* finds, std::vector<Section> more,
                     const std::string& limit) {
  const History history = run.summary();
  const double rate = static_cast<double>(report.frames) / std::max(history.seconds, 1e-9);
  const Chart settings = setting_chart(history);
  const Table by_setting = settings_table(report);
  std::vector<Section> sections;
  if (finds) sections = finds->sections();
  NamedTexts guide;
  if (!sections.empty()) guide = kFindsGuide;
  std::ranges::move(more, std::back_inserter(sections));
  sections.push_back({"Rate over time", {{rate_chart(history, objective_of(engine.quality))}}});
  guide.insert(guide.end(), kRateGuide.begin(), kRateGuide.end());
  if (!settings.lines.empty())
    sections.push_back({"Setting over time", {{settings}, {Note{controller.summary()}}}});
  if (by_setting.rows.size() > 1) {
    sections.push_back({"Frames by setting", {{by_setting}, {Note{accuracy_text(report)}}}});
    guide.insert(guide.end(), kSettingGuide.begin(), kSettingGuide.end());
  }
  sections.push_back({"Stages", {{stages_table(report)}}});
  if (!limit.empty()) sections.back().blocks.push_back({Note{limit}});
  return to_html({"Sightline: " + input,
                  {{fmt::format("{} frames at {:.1f} per second", report.frames, rate),
                    fmt::format("{}. {}. {} in {}", input, engine.detector().info().model,
                                counted(report.objects, "object"), duration_text(history.seconds)),
                    std::move(sections)}},
                  guide});
}

}  // namespace sightline::apps
