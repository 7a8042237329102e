#include "pipeline/report/chrome_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "support/errors.hpp"
#include "support/made_up_run.hpp"
#include "support/media.hpp"

namespace sightline::pipeline::test {
namespace {

using Json = nlohmann::json;
using media::test::TempDir;
using ::testing::Contains;
using ::testing::IsSupersetOf;

std::int64_t nanoseconds(const Json& microseconds) {
  return std::llround(microseconds.get<double>() * 1e3);
}

Json read_trace(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(file).at("traceEvents");
}

/// What a viewer makes of a trace.
struct Lane {
  std::string process, name;
  int order = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
};

struct View {
  std::map<std::pair<int, int>, Lane> lanes;
  std::map<std::string, std::vector<std::int64_t>> counters;
  int frames = 0;
  int arrows = 0;

  std::vector<std::string> names(const std::string& process) const {
    std::map<int, std::string> ordered;
    for (const auto& [id, lane] : lanes) {
      if (lane.process == process) ordered[lane.order] = lane.name;
    }
    std::vector<std::string> result;
    for (const auto& [order, name] : ordered) result.push_back(name);
    return result;
  }
};

/// Reads a trace and checks everything that the format asks for.
View check(const Json& events) {
  View view;
  std::map<int, std::string> processes;
  for (const Json& event : events) {
    const std::pair<int, int> lane{event.at("pid").get<int>(), event.value("tid", 0)};
    const std::string name = event.at("name");
    if (event.at("ph") == "M") {
      if (name == "process_name") processes[lane.first] = event["args"]["name"];
      if (name == "thread_name") view.lanes[lane].name = event["args"]["name"];
      if (name == "thread_sort_index") view.lanes[lane].order = event["args"]["sort_index"];
    }
  }
  std::map<std::string, std::vector<std::string>> open;  // asynchronous events by id
  std::map<std::string, std::int64_t> opened;
  std::map<std::string, std::int64_t> starts;  // arrows by id
  std::map<std::string, std::pair<int, int>> from;
  const auto inside_a_span = [&](std::pair<int, int> lane, std::int64_t time) {
    const auto& spans = view.lanes.at(lane).spans;
    return std::any_of(spans.begin(), spans.end(),
                       [&](const auto& span) { return span.first <= time && time < span.second; });
  };
  for (const Json& event : events) {
    const std::string phase = event.at("ph");
    if (phase == "M") continue;
    const std::pair<int, int> lane{event.at("pid").get<int>(), event.value("tid", 0)};
    const std::int64_t time = nanoseconds(event.at("ts"));
    EXPECT_GE(time, 0) << event;
    EXPECT_TRUE(processes.contains(lane.first)) << event;
    const std::string id = event.contains("id") ? event["id"].dump() : "";
    if (phase == "X") {
      EXPECT_TRUE(view.lanes.contains(lane)) << "no name: " << event;
      const std::int64_t length = nanoseconds(event.at("dur"));
      EXPECT_GE(length, 0);
      for (const auto& [start, end] : view.lanes[lane].spans) {
        EXPECT_TRUE(end <= time || time + length <= start) << "overlap in " << view.lanes[lane].name << event;
      }
      view.lanes[lane].spans.emplace_back(time, time + length);
      view.lanes[lane].process = processes[lane.first];
    } else if (phase == "b") {
      EXPECT_EQ(view.lanes[lane].name, "frames");
      if (open[id].empty()) opened[id] = time;
      open[id].push_back(event.at("name"));
    } else if (phase == "e") {
      if (open[id].empty() || open[id].back() != event.at("name").get<std::string>()) {
        ADD_FAILURE() << "ends what did not begin: " << event;
        continue;
      }
      EXPECT_GE(time, opened[id]);
      open[id].pop_back();
      view.frames += open[id].empty() ? 1 : 0;
    } else if (phase == "s") {
      EXPECT_FALSE(starts.contains(id));
      starts[id] = time;
      from[id] = lane;
      EXPECT_TRUE(inside_a_span(lane, time)) << event;
    } else if (phase == "f") {
      EXPECT_TRUE(starts.contains(id) && starts[id] <= time) << event;
      EXPECT_EQ(event.value("bp", ""), "e");
      EXPECT_TRUE(inside_a_span(lane, time)) << event;
      starts.erase(id);
      ++view.arrows;
    } else if (phase == "C") {
      EXPECT_EQ(event.at("args").size(), 1u);
      view.counters[event.at("name")].push_back(event.at("args").front());
    } else {
      EXPECT_EQ(phase, "i") << event;
    }
  }
  for (const auto& [id, names] : open) EXPECT_TRUE(names.empty()) << "never ends: " << id;
  EXPECT_TRUE(starts.empty()) << "arrows that lead nowhere";
  return view;
}

View write_and_check(const std::vector<MadeUpFrame>& frames, const TraceInfo& info) {
  const TempDir folder;
  ChromeTraceWriter writer(folder / "trace.json");
  writer.begin(info);
  for (const MadeUpFrame& frame : frames) writer.accept(frame.whole());
  writer.finish();
  return check(read_trace(folder / "trace.json"));
}

TEST(ChromeTrace, LanesOfAnyNumberOfSlotsDoNotOverlap) {
  for (int slots = 1; slots <= 8; ++slots) {
    for (Plan plan : made_up_plans()) {
      SCOPED_TRACE(plan.name + " " + std::to_string(slots));
      plan.slots = slots;
      const std::vector<MadeUpFrame> frames = simulate(plan, 30);
      const View view = write_and_check(frames, made_up_info(slots));
      EXPECT_EQ(view.frames, 30);
      EXPECT_GE(view.arrows, 30 * static_cast<int>(plan.steps.size() - 1));
      std::size_t spans = 0, shown = 0;
      for (const MadeUpFrame& frame : frames) spans += frame.spans.size();
      for (const auto& [id, lane] : view.lanes) shown += lane.spans.size();
      EXPECT_EQ(shown, spans);
      EXPECT_EQ(view.counters.at("slots in use").back(), 0);
      EXPECT_THAT(view.counters.at("slots in use"), Contains(slots));
    }
  }
}

TEST(ChromeTrace, LanesAreNamedAndOrdered) {
  const View view = write_and_check(simulate(made_up_plans()[3], 12), made_up_info(2));
  EXPECT_THAT(view.names("CPU, 2 threads"),
              IsSupersetOf({"decode", "classify, slot 0", "classify, slot 3", "group, slot 1", "output"}));
  EXPECT_EQ(view.names("CPU, 2 threads").front(), "decode");
  EXPECT_THAT(view.names("Made-up GPU"), IsSupersetOf({"upload, slot 0", "queue, slot 0", "queue, slot 3",
                                                       "download, slot 2", "wait, slot 1"}));
  EXPECT_EQ(view.names("Made-up GPU").front(), "upload, slot 0");
}

TEST(ChromeTrace, SplitFramesForkAndJoin) {
  const Plan plan = made_up_plans()[4];
  const View view = write_and_check(simulate(plan, 10), made_up_info(plan.slots));
  const auto steps = plan.steps.size() + plan.device.size();
  EXPECT_EQ(view.arrows, 10 * static_cast<int>(steps)) << "a tree's edges and one that joins";
}

TEST(ChromeTrace, FailedFramesAndDropsShow) {
  std::vector<MadeUpFrame> frames = simulate(made_up_plans()[0], 6);
  frames[3].trace.status = FrameStatus::failed;
  frames[3].spans.resize(2);
  frames[4].spans.clear();
  frames[4].trace.dropped = frames[5].trace.dropped = 3;
  const TempDir folder;
  ChromeTraceWriter writer(folder / "trace.json");
  writer.begin(made_up_info(2));
  for (const MadeUpFrame& frame : frames) writer.accept(frame.whole());
  writer.finish();
  const Json events = read_trace(folder / "trace.json");
  const View view = check(events);
  EXPECT_EQ(view.frames, 6);
  EXPECT_EQ(view.counters.at("frames dropped"), (std::vector<std::int64_t>{0, 3}));
  const auto mentions = [&](const std::string& text) {
    return std::count_if(events.begin(), events.end(),
                         [&](const Json& event) { return event.dump().find(text) != std::string::npos; });
  };
  EXPECT_EQ(mentions("frame 4 failed"), 1);
  EXPECT_EQ(mentions("\"status\":\"failed\""), 1);
}

TEST(ChromeTrace, SettingsAreATrackOfTheirOwn) {
  std::vector<MadeUpFrame> frames = simulate(made_up_plans()[0], 6);
  for (const std::size_t i : {2, 3}) frames[i].trace.setting = 1;
  const TempDir folder;
  ChromeTraceWriter writer(folder / "trace.json");
  TraceInfo info = made_up_info(2);
  info.settings = {{"50 filters", "", {}}, {"25 filters", "", {}}};
  writer.begin(info);
  for (const MadeUpFrame& frame : frames) writer.accept(frame.whole());
  writer.finish();
  const Json events = read_trace(folder / "trace.json");
  EXPECT_EQ(check(events).counters.at("setting (0: most accurate)"), (std::vector<std::int64_t>{0, 1, 0}));
  int named = 0;
  for (const Json& event : events)
    if (event.value("ph", "") == "b" && event.contains("args"))
      named += event["args"]["setting"] == "25 filters";
  EXPECT_EQ(named, 2);
}

TEST(ChromeTrace, SpansThatOverlapGetLanesOfTheirOwn) {
  // Two sources that number their slots alike, and one that reads while the other does.
  TraceInfo info = made_up_info(1);
  info.sources = {"a \"quoted\"\n\xff", "b"};
  std::vector<MadeUpFrame> frames = simulate(made_up_plans()[3], 8);
  const std::vector<MadeUpFrame> others = simulate(made_up_plans()[3], 8);
  for (MadeUpFrame frame : others) {
    frame.trace.source = 1;
    frames.push_back(frame);
  }
  const View view = write_and_check(frames, info);
  EXPECT_EQ(view.frames, 16);
  EXPECT_THAT(view.names("Made-up GPU"), IsSupersetOf({"queue, slot 0", "queue, slot 0 (2)"}));
  EXPECT_THAT(view.names("CPU, 2 threads"),
              IsSupersetOf({"decode, a \"quoted\"\n\xef\xbf\xbd", "decode, b"}));
}

TEST(ChromeTrace, LiveFramesAreDecodedBeforeTheySitInTheirSlot) {
  // A camera of 10 ms, whose frames take 14 ms from their capture to the end of decoding: two are on their
  // way at once. The detector takes 20 ms for every second one, in one slot; each waits for it.
  constexpr std::int64_t ms = 1'000'000;
  const TraceInfo info = made_up_info(1);
  std::vector<MadeUpFrame> frames;
  for (int i = 0; i < 20; ++i) {
    const std::int64_t captured = info.start + (20 * i - 25) * ms;  // the first before the run
    const std::int64_t decoded = captured + 14 * ms;
    const std::int64_t begun = info.start + (20 * i + 2) * ms;
    MadeUpFrame frame;
    frame.trace.frame = 2 * i + 1;
    frame.trace.slots_in_use = 1;
    frame.trace.dropped = i;
    frame.trace.admitted = captured;
    frame.trace.entered = begun;
    frame.trace.delivered = begun + 19 * ms;
    frame.spans = {{Activity::decode, 0, 0, 0, captured, decoded, 0},
                   {Activity::wait, 0, 0, 0, decoded, begun, 0},
                   {Activity::run, 0, 0, 0, begun, begun + 18 * ms, 0},
                   {Activity::output, 0, 0, 0, begun + 18 * ms, begun + 19 * ms, 0}};
    if (i % 3 == 1) frame.spans[0].end = frame.spans[1].start = decoded + 10 * ms;  // overlaps the next one's
    frames.push_back(frame);
  }
  const View view = write_and_check(frames, info);  // no time below 0, no overlap in a lane
  EXPECT_EQ(view.frames, 20);
  std::map<std::string, std::size_t> spans;
  for (const auto& [id, lane] : view.lanes) spans[lane.name] += lane.spans.size();
  EXPECT_EQ(spans["decode"] + spans["decode (2)"], 20u);
  EXPECT_GT(spans["decode (2)"], 0u);
  EXPECT_EQ(spans["pyramid, slot 0"], 20u) << "one stage's lane";
  EXPECT_EQ(spans["output"], 20u);
  EXPECT_EQ(view.counters.at("frames dropped").back(), 19);
}

TEST(ChromeTrace, SlotsAreInUseFromWhenTheFrameCame) {
  MadeUpFrame frame = simulate(made_up_plans()[0], 1)[0];
  frame.trace.entered = frame.trace.admitted + 2'500'000;
  const TempDir folder;
  ChromeTraceWriter writer(folder / "trace.json");
  writer.begin(made_up_info(1));
  writer.accept(frame.whole());
  writer.finish();
  for (const Json& event : read_trace(folder / "trace.json")) {
    if (event.at("name") != "slots in use" || event.at("args").at("frames") != 1) continue;
    EXPECT_EQ(event.at("ts").get<double>(), 2500);
    return;
  }
  FAIL() << "no counter";
}

TEST(ChromeTrace, UnknownNumbersAndEmptySpansAreShown) {
  MadeUpFrame frame = simulate(made_up_plans()[0], 1)[0];
  frame.spans[1].stage = 9;
  frame.spans[2].end = frame.spans[2].start;
  const TempDir folder;
  ChromeTraceWriter writer(folder / "trace.json");
  writer.begin(made_up_info(1));
  writer.accept(frame.whole());
  writer.finish();
  check(read_trace(folder / "trace.json"));
  EXPECT_NE(read_trace(folder / "trace.json").dump().find("stage 9"), std::string::npos);
}

TEST(ChromeTrace, TheFileHasItsNameOnlyWhenItIsWhole) {
  const TempDir folder;
  const std::string path = folder / "trace.json";
  const auto files = [&] {
    const std::filesystem::directory_iterator all(folder.path());
    return std::distance(begin(all), end(all));
  };
  {
    ChromeTraceWriter writer(path);
    writer.begin(made_up_info(1));
    for (const MadeUpFrame& frame : simulate(made_up_plans()[3], 400)) writer.accept(frame.whole());
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(files(), 1);
  }
  EXPECT_EQ(files(), 0);
  ChromeTraceWriter empty(path);
  empty.begin(made_up_info(1));
  empty.finish();
  empty.finish();
  EXPECT_EQ(check(read_trace(path)).frames, 0);
  EXPECT_EQ(files(), 1);
}

TEST(ChromeTrace, SaysWhatCannotBeWritten) {
  const TempDir folder;
  sightline::test::expect_error(ExitCode::failed, "none/trace.json",
                                [&] { ChromeTraceWriter(folder / "none/trace.json"); });
  ChromeTraceWriter full("/dev/full");
  full.begin(made_up_info(1));
  EXPECT_THROW(full.finish(), Error);
}

}  // namespace
}  // namespace sightline::pipeline::test
