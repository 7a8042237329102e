#include "apps/common/quality_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/text.hpp"
#include "pipeline/session/keys.hpp"

namespace sightline::apps {
namespace {

Config::Value value_of(const std::string& text) {
  if (text == "true" || text == "false") return text == "true" ? 1.0 : 0.0;
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault == std::errc() && end == text.data() + text.size()) return number;
  return text;
}

}  // namespace

void add_quality_options(OptionSet& options, pipeline::QualityRequest& request) {
  namespace keys = pipeline::keys;
  options.group("Trade accuracy for speed while it runs");
  options.add(keys::kHold.make_option(&request.hold)).excludes("--budget").excludes("--battery");
  options.add(keys::kBudget.make_option(&request.budget))
      .checked_by([](const std::string& text) { pipeline::parse_budget(text); })
      .free_text()
      .excludes("--battery");
  options.add(keys::kBattery.make_option(&request.battery));
  options.add(keys::kSettings.make_option(&request.settings)).free_text();
  options.add("--power-log FILE", &request.power_log,
              "CSV file of an external power meter, with columns time and watts (--budget)");
}

std::vector<OperatingPointChanges> parse_settings(const std::string& text) {
  std::vector<OperatingPointChanges> all;
  for (const std::string& setting : split(text, ';')) {
    OperatingPointChanges& changes = all.emplace_back();
    for (const std::string& piece : split(std::string(trimmed(setting)), ',')) {
      const std::string change(trimmed(piece));
      const auto equals = change.find('=');
      const std::string key(trimmed(change.substr(0, equals)));
      const std::string value(equals == std::string::npos ? "" : trimmed(change.substr(equals + 1)));
      if (key.empty() || value.empty()) {
        throw Error(ExitCode::usage, "'" + change + "' is not a setting",
                    "write settings as KEY=VALUE, with commas, and semicolons between settings: "
                    "\"filters=50; filters=25,scale_step=1.2\"");
      }
      changes.emplace_back(key, value_of(value));
    }
  }
  return all;
}

std::string settings_table(const FrameProcessor& processor) {
  const auto settings = processor.operating_points();
  if (settings.empty()) return "";
  std::size_t width = 0;
  for (const OperatingPoint& one : settings) width = std::max(width, one.name.size());
  std::string text = "settings, from the most accurate to the fastest:\n";
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const std::string& accuracy = settings[i].accuracy;
    text += fmt::format("  {} {:<{}}  {}\n", i == processor.configured_setting() ? '*' : ' ',
                        settings[i].name, width, accuracy.empty() ? "not evaluated" : accuracy);
  }
  return text + "  * configured\n";
}

std::string accuracy_text(const pipeline::RunReport& report) {
  double missed = 0;
  std::int64_t frames = 0;
  for (const pipeline::OperatingPointUse& use : report.settings) {
    if (use.frames == 0) continue;
    if (!use.setting.missed) return "";
    missed += *use.setting.missed * static_cast<double>(use.frames);
    frames += use.frames;
  }
  const auto& best = report.settings.front().setting.missed;
  if (frames == 0 || !best) return "";
  return fmt::format(
      "miss rate per window at 1e-5 false positives per window, in the model's evaluation: {:.2f}% on "
      "average "
      "over the frames, {:.2f}% with the most accurate setting. Whole frames miss more: see the model's card",
      100 * missed / static_cast<double>(frames), 100 * *best);
}

std::string settings_text(const pipeline::RunReport& report) {
  std::int64_t frames = 0, used = 0;
  for (const pipeline::OperatingPointUse& use : report.settings) {
    frames += use.frames;
    used += use.frames > 0;
  }
  if (used < 2) return "";
  std::string text = "share of the frames by setting:\n";
  for (const pipeline::OperatingPointUse& use : report.settings) {
    if (use.frames == 0) continue;
    text +=
        fmt::format("  {:5.1f}%  {}\n", 100 * static_cast<double>(use.frames) / static_cast<double>(frames),
                    use.setting.name);
  }
  const std::string accuracy = accuracy_text(report);
  return text + accuracy + (accuracy.empty() ? "" : "\n");
}

}  // namespace sightline::apps
