// `sightline batch status`: what is done, running and failed, and how long the rest takes.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/batch/commands.hpp"
#include "apps/batch/job.hpp"
#include "apps/cli/stop.hpp"
#include "base/columns.hpp"
#include "base/duration_text.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"

namespace sightline::apps::batch {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr double kSilence = 60;  // seconds without a heartbeat after which a part's process has ended
constexpr double kWindow = 600;  // seconds that the rate is of
constexpr std::chrono::milliseconds kPause{2000};

struct Status {
  std::int64_t parts = 0, done = 0, running = 0, failed = 0;
  std::int64_t frames = 0, frames_done = 0;
  double rate = 0;                  ///< frames/s
  std::optional<double> time_left;  ///< seconds
  std::vector<Failure> failures;    ///< the last one of each part
  std::vector<std::string> unreadable, differing;
  std::vector<std::size_t> tasks_left;
  const char* unit = "frames";
};

Status status_of(const Job& job) {
  const JobState state = read_state(job);
  Status status;
  if (job.plan().kind == Kind::texture) status.unit = "rows of tiles";
  for (const Input& input : job.plan().inputs)
    if (!input.problem.empty()) status.unreadable.push_back(input.problem);
  std::vector<std::pair<double, std::int64_t>> finished;  // when, frames
  status.tasks_left = tasks_left(job, state);
  for (const Job::Place& place : job.parts()) {
    const std::string name = job.name(place);
    const std::int64_t frames = job.part(place).frames;
    ++status.parts;
    status.frames += frames;
    if (const auto differing = state.differing.find(name); differing != state.differing.end())
      status.differing.push_back(job.describe(place) + ": " + differing->second.front());
    if (const auto done = state.done.find(name); done != state.done.end()) {
      ++status.done;
      status.frames_done += frames;
      finished.emplace_back(done->second, frames);
      continue;
    }
    const auto running = state.running.find(name);
    const auto failed = state.failed.find(name);
    if (running != state.running.end() && state.now - running->second < kSilence) {
      ++status.running;
    } else if (failed != state.failed.end()) {
      ++status.failed;
      status.failures.push_back(failed->second);
    }
  }
  std::ranges::sort(finished);
  const auto recent =
      std::ranges::find_if(finished, [&](const auto& one) { return one.first >= state.now - kWindow; });
  // The time of the first finished part is where counting starts, so its own frames do not count.
  if (finished.end() - recent > 1) {
    std::int64_t frames = 0;
    for (auto one = recent + 1; one != finished.end(); ++one) frames += one->second;
    const double seconds = (status.running > 0 ? state.now : finished.back().first) - recent->first;
    if (seconds > 0) status.rate = static_cast<double>(frames) / seconds;
  }
  if (status.rate > 0)
    status.time_left = static_cast<double>(status.frames - status.frames_done) / status.rate;
  return status;
}

OrderedJson status_json(const Status& status) {
  OrderedJson failures = OrderedJson::array();
  for (const Failure& one : status.failures) {
    failures.push_back({{"part", one.part},
                        {"about", one.about},
                        {"code", one.code},
                        {"message", one.message},
                        {"machine", one.machine}});
  }
  return {{"parts", status.parts},
          {"done", status.done},
          {"running", status.running},
          {"failed", status.failed},
          {"unit", status.unit},
          {"frames", status.frames},
          {"frames_done", status.frames_done},
          {"rate", status.rate},
          {"seconds_left", status.time_left ? OrderedJson(*status.time_left) : OrderedJson(nullptr)},
          {"tasks_left", status.tasks_left},
          {"failures", std::move(failures)},
          {"unreadable", status.unreadable},
          {"differing", status.differing}};
}

std::string status_text(const Status& status) {
  constexpr std::size_t kShown = 8;
  std::string text = fmt::format("{} of {} done, {} running, {} failed, {} waiting; {} of about {} {}",
                                 status.done, counted(status.parts, "part"), status.running, status.failed,
                                 status.parts - status.done - status.running - status.failed,
                                 status.frames_done, status.frames, status.unit);
  if (status.rate > 0) text += fmt::format(", {:.1f} per second", status.rate);
  if (status.time_left && status.done < status.parts)
    text += ", " + duration_text(*status.time_left) + " left";
  text += '\n';
  const auto list = [&](const auto& all, const auto& line) {
    for (std::size_t i = 0; i < std::min(all.size(), kShown); ++i)
      text += "  " + printable(line(all[i])) + '\n';
    if (all.size() > kShown) text += fmt::format("  and {} more\n", all.size() - kShown);
  };
  list(status.failures, [](const Failure& one) {
    return fmt::format("failed with code {} on {}: {}: {}", one.code, one.machine, one.about, one.message);
  });
  list(status.unreadable, [](const std::string& one) { return "cannot be read: " + one; });
  list(status.differing, [](const std::string& one) { return "differs between machines: " + one; });
  return text;
}

// Lines of a terminal that a text takes.
std::size_t lines_of(const std::string& text) {
  const std::size_t columns = terminal_columns(STDOUT_FILENO, 80);
  std::size_t lines = 0;
  for (const std::string& line : split(text, '\n'))
    lines += std::max<std::size_t>(1, (columns_of(line) + columns - 1) / columns);
  return lines;
}

// Moves the cursor to the first of the last lines and clears from there on. Past standard output, which shows
// control characters instead of sending them.
void clear_last(std::size_t lines) {
  const std::string codes = fmt::format("\033[{}A\033[J", lines);
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, codes.data(), codes.size());
}

}  // namespace

int show_status(const StatusArguments& a) {
  const std::atomic<bool>& stop = stop_requested();
  const Job job(a.folder);
  const bool draws_over = !a.json && is_terminal(STDOUT_FILENO);
  for (std::size_t shown = 0;;) {
    const Status status = status_of(job);
    const std::string text =
        printable(a.json ? json_text(status_json(status)) + '\n' : status_text(status), kLineEndsAndTabs);
    if (draws_over && shown > 0) clear_last(shown);
    shown = lines_of(text);
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    if (!a.watch || status.done == status.parts) return 0;
    for (auto waited = std::chrono::milliseconds(0); waited < kPause && !stop; waited += kPause / 20)
      std::this_thread::sleep_for(kPause / 20);
    if (stop) return stop_exit_code();
  }
}

}  // namespace sightline::apps::batch
