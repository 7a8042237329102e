#include "damaged/check.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>

namespace sightline::damaged {
namespace {

using test::Json;

std::string problem_of_lines(const std::string& text, std::vector<std::string>& lines, bool& any_searched) {
  if (!text.empty() && text.back() != '\n') return "the last line is not whole";
  std::istringstream stream(text);
  std::int64_t last = 0;
  for (std::string line; std::getline(stream, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return "a line is not JSON: " + line;
    const bool is_picture = json.contains("frame") && json["frame"].is_null();
    const std::int64_t frame = is_picture ? last + 1 : json.value("frame", std::int64_t{0});
    if (frame <= last) return "frame " + std::to_string(frame) + " comes after " + std::to_string(last);
    last = frame;
    const std::string status = json.value("status", "");
    const bool is_known = status == "ok" || status == "skipped" || status == "failed";
    if (!is_known || json.value("width", 0) < 1 || json.value("height", 0) < 1 || !json.contains("objects"))
      return "a line says: " + line;
    if (status != "ok" && json.value("message", "").empty()) return "a line does not say why: " + line;
    any_searched = any_searched || status != "failed";
    lines.push_back(std::move(line));
  }
  return "";
}

std::string problem_of(const test::Outcome& outcome, const std::string& file, Verdict& verdict,
                       const Bounds& bounds) {
  if (outcome.timed_out) return "it takes more than " + std::to_string(bounds.seconds) + " s";
  const int code = outcome.exit_code;
  if (code != 0 && code != 1 && code != 3) return "it ends with " + std::to_string(code);
  if (outcome.peak_kilobytes > bounds.peak_kilobytes)
    return "it takes " + std::to_string(outcome.peak_kilobytes / 1024) + " MiB";
  const std::string name = file.substr(file.rfind('/') + 1);
  if (outcome.exit_code == 3 && outcome.err.find(name) == std::string::npos)
    return "its message does not name the file";
  bool any_searched = false;
  if (std::string problem = problem_of_lines(outcome.out, verdict.lines, any_searched); !problem.empty())
    return problem;
  const bool all_failed = !verdict.lines.empty() && !any_searched;
  if (code != 3 && (code == 1) != all_failed)
    return "it ends with " + std::to_string(code) + " in spite of its lines";
  return "";
}

}  // namespace

Verdict check_file(const std::string& file, const Bounds& bounds) {
  test::RunSetup setup;
  setup.timeout = bounds.seconds;
  const auto begin = std::chrono::steady_clock::now();
  const test::Outcome outcome = test::run(
      {"-q", "detect", file, "-d", "-", "--device", "none", "--filters", "12", "--threads", "2"}, setup);
  Verdict verdict;
  verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  verdict.exit_code = outcome.exit_code;
  verdict.peak_kilobytes = outcome.peak_kilobytes;
  verdict.messages = outcome.err;
  verdict.problem = problem_of(outcome, file, verdict, bounds);
  return verdict;
}

}  // namespace sightline::damaged
