#include "sweep.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "support/media.hpp"
#include "support/thorough.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;

std::vector<long> chosen_points(long first, long last, long wanted) {
  const long calls = last - first + 1;
  const char* const asked = std::getenv("SIGHTLINE_FAULT_POINTS");
  wanted = sampled(wanted, 3);
  if (asked) wanted = std::string(asked) == "all" ? calls : std::atol(asked);
  std::set<long> points;
  for (long point = first; wanted >= calls && point <= last; ++point) points.insert(point);
  for (long i = 0; i < wanted / 3 && i < 30; ++i) {
    points.insert(std::min(first + i, last));
    points.insert(std::max(last - i, first));
  }
  const long between = std::max(wanted - static_cast<long>(points.size()), 1L);
  for (long i = 0; i < between; ++i) points.insert(first + i * (calls - 1) / std::max(between - 1, 1L));
  return {points.begin(), points.end()};
}

std::string text_of(const FaultRun& run) {
  return run.order + " (" + (run.struck.empty() ? "not reached" : run.struck) + "), exit code " +
         std::to_string(run.outcome.exit_code) + ": " + run.outcome.err;
}

std::map<std::string, long> counts_of(const std::string& report) {
  std::map<std::string, long> counts;
  std::istringstream text(bytes_of(report));
  std::string word, kind;
  for (long count = 0; text >> word >> kind >> count;)
    if (word == "count") counts[kind] = count;
  return counts;
}

// The number before some words of the program's closing lines; 0 where they are not there.
long number_before(const std::string& text, const std::string& words) {
  const std::size_t at = text.find(words);
  if (at == std::string::npos) return 0;
  std::size_t begin = at;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1]))) --begin;
  return std::atol(text.substr(begin, at - begin).c_str());
}

// One clip for all.
std::string clip() {
  static const TempDir folder;
  static const std::string file = [] {
    media::test::make_clip(folder / "in.mkv",
                           "mandelbrot=size=120x200:rate=10:start_scale=1:end_scale=0.01:end_pts=40,"
                           "trim=end_frame=6[out0];sine=duration=0.6[out1]",
                           {}, true);
    return folder / "in.mkv";
  }();
  return file;
}

}  // namespace

Sweep::Sweep(Arguments arguments, std::string program, std::string caches, int counts)
    : arguments_(std::move(arguments)),
      program_(std::move(program)),
      caches_(caches.empty() ? folder_ / "caches" : std::move(caches)) {
  run("", "cache");  // builds the kernels, so that every run below makes the same calls
  const FaultRun whole = run("", "whole");
  EXPECT_EQ(whole.outcome.exit_code, 0) << whole.outcome.err;
  calls_ = counts_of(whole.folder + "/report");
  for (int again = 1; again < sampled(counts); ++again)
    for (const auto& [kind, count] : counts_of(run("", "again" + std::to_string(again)).folder + "/report"))
      calls_[kind] = std::min(calls_[kind], count);
}

long Sweep::calls(const std::string& kind) const {
  const auto found = calls_.find(kind);
  return found == calls_.end() ? 0 : found->second;
}

long Sweep::calls_of_command_line(const std::string& kind) const {
  RunSetup setup;
  setup.program = program_;
  setup.environment = {"SIGHTLINE_FAULT_REPORT=" + (folder_ / "command_line")};
  expect_run(2, "--bogus", {"detect", "in", "--bogus"}, setup);
  return counts_of(folder_ / "command_line").at(kind);
}

FaultRun Sweep::run(const std::string& order, const std::string& folder) const {
  FaultRun result;
  result.order = order;
  result.folder = folder_ / folder;
  fs::create_directories(result.folder);
  RunSetup setup;
  setup.timeout = order.empty() ? 300 : 120;  // the first builds kernels
  setup.program = program_;
  setup.environment = {"XDG_CACHE_HOME=" + caches_, "SIGHTLINE_FAULT_REPORT=" + result.folder + "/report"};
  if (!order.empty()) setup.environment.push_back("SIGHTLINE_FAULT=" + order);
  result.outcome = test::run(arguments_(result.folder), setup);
  const std::string lines = bytes_of(result.folder + "/o.jsonl");
  result.lines = std::count(lines.begin(), lines.end(), '\n');
  std::istringstream report(bytes_of(result.folder + "/report"));
  for (std::string word, call, number; report >> word >> call >> number;)
    if (word == "struck") result.struck = call;
  return result;
}

void Sweep::over(const std::string& kind, bool onwards, int points,
                 const std::function<void(const FaultRun&)>& check, long first, long last) const {
  const long all = last > 0 ? std::min(last, calls(kind)) : calls(kind);
  ASSERT_GE(all, first) << "no call of kind " << kind;
  const std::vector<long> chosen = chosen_points(first, all, points);
  std::atomic<std::size_t> next{0};
  std::atomic<int> reached{0};
  const auto work = [&] {
    for (std::size_t i = 0; (i = next++) < chosen.size();) {
      const std::string order = kind + ":" + std::to_string(chosen[i]) + (onwards ? "+" : "");
      FaultRun one = run(order, order);
      one.n = chosen[i];
      reached += !one.struck.empty();
      check_run(one);
      check(one);
      fs::remove_all(one.folder);
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < threads_; ++i) threads.emplace_back(work);
  threads.clear();
  std::printf("%s%s: %zu of %ld calls swept, %d of them reached\n", kind.c_str(),
              onwards ? " and all that follow" : "", chosen.size(), all - first + 1, reached.load());
  // How many calls a run makes depends on how its threads meet.
  EXPECT_GE(reached * 2, static_cast<int>(chosen.size()));
}

void Sweep::check_run(const FaultRun& run) const {
  SCOPED_TRACE(text_of(run));
  const int code = run.outcome.exit_code;
  EXPECT_FALSE(run.outcome.timed_out);
  EXPECT_GE(code, 0);
  EXPECT_LE(code, 5) << "it crashed";
  EXPECT_EQ(code != 0, run.outcome.err.find("error: ") != std::string::npos)
      << "an exit code other than 0 comes with an error, and an error with such a code";
  EXPECT_EQ(run.outcome.err.find("unexpected"), std::string::npos);
}

DetectSweep::DetectSweep(const std::function<Words()>& arguments, std::string program, std::string caches,
                         int counts)
    : Sweep(
          [arguments](const std::string& folder) {
            return Words{"detect", clip(), "-o", folder + "/o.mp4", "-d", folder + "/o.jsonl"} + arguments();
          },
          std::move(program), std::move(caches), counts),
      lines_(parse_lines(bytes_of(whole() + "/o.jsonl"))) {
  EXPECT_EQ(lines_.size(), 6u);
  EXPECT_EQ(media::test::read_all(whole() + "/o.mp4").size(), 6u);
}

void DetectSweep::check_run(const FaultRun& run) const {
  Sweep::check_run(run);
  SCOPED_TRACE(text_of(run));
  check_lines(run);
  const int code = run.outcome.exit_code;
  const std::string video = run.folder + "/o.mp4";
  if (!fs::exists(video)) {
    EXPECT_NE(code, 0);
    return;
  }
  try {
    const std::size_t pictures = media::test::read_all(video).size();
    EXPECT_LE(pictures, lines_.size());
    if (code == 0) {
      EXPECT_EQ(pictures, parse_lines(bytes_of(run.folder + "/o.jsonl")).size());
      for (const auto& entry : fs::directory_iterator(run.folder)) {
        const std::string name = entry.path().filename();
        EXPECT_TRUE(name == "report" || name == "o.mp4" || name == "o.jsonl") << name << " is left";
      }
    }
  } catch (const Error& error) {
    ADD_FAILURE() << "the video is not whole: " << error.what();
  }
}

// Whole lines, of frames in order; none missing that nobody speaks of.
void DetectSweep::check_lines(const FaultRun& run) const {
  const std::vector<Json> lines = parse_lines(bytes_of(run.folder + "/o.jsonl"));
  const long lost = number_before(run.outcome.err, " decode error");
  if (run.outcome.exit_code == 0) {
    EXPECT_GE(static_cast<long>(lines.size()) + lost, static_cast<long>(lines_.size()))
        << "frames are missing";
  }
  long failed = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].at("frame"), i + 1);
    if (lines[i].at("status") == "ok") {
      // By its time: where reading ends early, pictures in between may be missing. Where a packet is lost,
      // nobody can say what is in the pictures that refer to it.
      const auto whole = std::find_if(lines_.begin(), lines_.end(), [&](const Json& line) {
        return line.at("time") == lines[i].at("time");
      });
      if (lost == 0 && run.outcome.exit_code != 3) {
        EXPECT_EQ(whole - lines_.begin(), static_cast<std::ptrdiff_t>(i)) << "a frame is missing";
      }
      if (lost == 0 && whole != lines_.end()) {
        EXPECT_EQ(whole->at("objects"), lines[i].at("objects")) << "in frame " << i + 1;
      }
    } else {
      ++failed;
      EXPECT_FALSE(lines[i].at("message").get<std::string>().empty());
    }
  }
  if (run.outcome.exit_code == 0) {
    EXPECT_EQ(failed, number_before(run.outcome.err, " frame failed") +
                          number_before(run.outcome.err, " frames failed"));
  }
}

std::function<void(const FaultRun&)> exits_with(std::vector<int> codes) {
  return [codes = std::move(codes)](const FaultRun& run) {
    if (run.struck.empty()) {  // nothing failed: the run made fewer calls than the one that was counted
      EXPECT_EQ(run.outcome.exit_code, 0) << text_of(run);
      return;
    }
    EXPECT_NE(std::find(codes.begin(), codes.end(), run.outcome.exit_code), codes.end()) << text_of(run);
  };
}

}  // namespace sightline::test
