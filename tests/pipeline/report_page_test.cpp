// The report page, as it is and as a browser makes it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "pipeline/report/measurement_output.hpp"
#include "support/made_up_measurement.hpp"
#include "support/media.hpp"
#include "support/thorough.hpp"

namespace sightline::pipeline::test {
namespace {

using media::test::load;
using media::test::store;
using media::test::TempDir;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// Names as a file system and a vendor may have them.
const std::string kNasty = "a</script><b>&\"'@data@<!--\xff";
const std::string kNastyEscaped = "a&lt;/script&gt;&lt;b&gt;&amp;";  // as far as browsers write it back alike

Measurement nasty_measurement() {
  Measurement m = made_up_measurement();
  m.input = m.machine = m.accuracy = kNasty;
  m.trace_info.stages[1] = m.trace_info.processors[1] = m.schedules[1].schedule = kNasty;
  for (ScheduleResult& schedule : m.schedules) {
    for (StageResult& stage : schedule.stages) {
      if (stage.name == "filter") stage.name = kNasty;
    }
  }
  return m;
}

/// What stands between the tags, one entry a piece.
std::vector<std::string> words(const std::string& html) {
  std::vector<std::string> result;
  std::istringstream stream(std::regex_replace(html, std::regex("<[^>]*>"), "\n"));
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) result.push_back(line);
  }
  return result;
}

/// The row of the table of schedules that begins with a name.
std::vector<std::string> row(const std::string& page, const std::string& schedule) {
  const std::size_t start = page.find("<th scope=\"row\">" + schedule);
  if (start == std::string::npos) return {};
  return words(page.substr(start, page.find("</tr>", start) - start));
}

std::string number(double value, int decimals) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

void expect_numbers(const std::string& page, const Measurement& m) {
  for (const ScheduleResult& s : m.schedules) {
    const std::string name = s.schedule == kNasty ? kNastyEscaped : s.schedule;
    SCOPED_TRACE(name);
    const std::vector<std::string> cells = row(page, name);
    ASSERT_GE(cells.size(), 13u);
    EXPECT_EQ(cells[1], number(s.fps_median, 1));
    EXPECT_EQ(cells[3], number(s.latency_p50 * 1e3, 1));
    EXPECT_EQ(cells[4], number(s.latency_p95 * 1e3, 1));
    EXPECT_EQ(cells[5], number(s.latency_p99 * 1e3, 1));
    EXPECT_EQ(cells[6], number(s.bound_fps, 1));
    EXPECT_EQ(cells[7], number(s.bound_share * 100, 0) + "%");
    EXPECT_EQ(cells[8], number(s.overlap_factor, 2));
    EXPECT_THAT(cells[9], ::testing::StartsWith(number(s.processors[0].utilisation * 100, 0) + "/"));
    EXPECT_EQ(cells[10], std::to_string(s.in_flight));
    EXPECT_EQ(cells[11], number(static_cast<double>(s.peak_memory_bytes) / 1e6, 0));
    EXPECT_EQ(cells[12], "no meter");
    for (const StageResult& stage : s.stages) {
      const std::string time = number(stage.seconds * 1e3, stage.seconds < 0.9995e-3 ? 3 : 2);
      EXPECT_THAT(page, HasSubstr(time + "<small>")) << stage.name;
    }
  }
}

TEST(ReportPage, SaysWhyAScheduleReachesMoreThanItsBound) {
  Measurement m = made_up_measurement();
  for (ScheduleResult& s : m.schedules) s.bound_share = 0.9;
  EXPECT_THAT(measurements_as_page({&m, 1}), Not(HasSubstr("above 100%")));
  m.schedules.front().bound_share = 1.08;
  EXPECT_THAT(measurements_as_page({&m, 1}), HasSubstr("above 100%"));
}

TEST(ReportPage, NeedsNoScriptForItsTables) {
  const Measurement m = nasty_measurement();
  const std::string page = measurements_as_page({&m, 1});
  expect_numbers(page, m);
  // The matrix of the schedule that overlaps.
  const ScheduleResult& s = m.schedules[3];
  std::string expected;
  for (const double share : s.overlap[0]) expected += number(share * 100, 0) + "% ";
  const std::string matrix = page.substr(page.find("<figcaption>overlap"));
  const std::string first =
      matrix.substr(matrix.find("<tbody>"), matrix.find("</tr>", matrix.find("<tbody>")));
  std::string shown;
  for (const std::string& word : words(first.substr(0, first.find("</tr>")))) {
    if (word != "decode") shown += word + ' ';
  }
  EXPECT_EQ(shown, expected);
}

TEST(ReportPage, EscapesNamesAndNeedsNothingElse) {
  const Measurement m = nasty_measurement();
  const std::string page = measurements_as_page({&m, 1});
  EXPECT_THAT(page, Not(HasSubstr("a</script>")));
  EXPECT_THAT(page, Not(HasSubstr("<b>&\"")));
  EXPECT_THAT(page, Not(HasSubstr("\xff")));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;&amp;&quot;&#39;@data@&lt;!--"));
  EXPECT_FALSE(std::regex_search(page, std::regex("(src|href) *=|url\\(|@import|https?:")));
}

TEST(ReportPage, HoldsSeveralMeasurementsOrNone) {
  const std::vector<Measurement> two{made_up_measurement(), made_up_measurement(0.4, 25)};
  const std::string page = measurements_as_page(two);
  EXPECT_THAT(page, HasSubstr("768x576, 100 filters"));
  EXPECT_THAT(page, HasSubstr("768x576, 25 filters"));
  EXPECT_THAT(measurements_as_page({}), HasSubstr("How to read this"));
  const Measurement empty;
  EXPECT_THAT(measurements_as_page({&empty, 1}), HasSubstr("Nothing was measured"));
}

std::string chromium() {
  for (const std::string name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0) return name;
  }
  return {};
}

/// The document after its scripts have run.
std::string loaded(const std::string& page) {
  const TempDir folder;
  store(folder / "page.html", page);
  const std::string command =
      "timeout 100 " + chromium() + " --headless=new --no-sandbox --disable-gpu --user-data-dir='" +
      (folder / "profile") + "' --window-size=1280,1600 --virtual-time-budget=3000 --dump-dom 'file://" +
      (folder / "page.html") + "' >'" + (folder / "dom") + "' 2>'" + (folder / "err") + "'";
  EXPECT_EQ(std::system(command.c_str()), 0)
      << std::string(load(folder / "err").data(), load(folder / "err").size());
  const std::vector<char> dom = load(folder / "dom");
  return {dom.begin(), dom.end()};
}

/// Uses the page as a person does, and notes on the body what came of it.
constexpr const char* kVisit = R"(<script>
const canvas = document.querySelector("canvas"), note = document.body.dataset, pick = document.querySelector(".pick");
const picture = () => canvas.toDataURL();
const changed = (act) => { const before = picture(); act(); return picture() !== before; };
const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", {key}));
const button = (text) => [...document.querySelectorAll("button")].find((b) => b.textContent === text).click();
const place = canvas.getBoundingClientRect();
const mouse = (type, x, y, more) => canvas.dispatchEvent(
  new (type === "wheel" ? WheelEvent : PointerEvent)(type, {clientX: place.x + x, clientY: place.y + y, cancelable: true, pointerId: 1, ...more}));
canvas.setPointerCapture = () => {};
const failures = [];
const expect = (name, condition) => { if (!condition) failures.push(name); };
const summary = () => document.querySelector(".summary").textContent;
note.shown = [...pick.children].map((b) => { b.click(); return summary().startsWith("40 consecutive frames under " + b.textContent); }).join();
note.matrices = [...document.querySelector("article").querySelectorAll("figure")].filter((f) => !f.hidden).length;
const last = [...document.querySelectorAll(".measurement")].at(-1);
last.querySelector(".pick").children[0].click();
expect("says that there is no timeline", last.querySelector(".summary").textContent === "no timeline was kept for cpu");
pick.children[3].click();
expect("wheel zooms", changed(() => mouse("wheel", 600, 80, {deltaY: -100})));
expect("arrow moves", changed(() => press("ArrowRight")));
expect("drag moves", changed(() => { mouse("pointerdown", 600, 80); mouse("pointermove", 500, 80); mouse("pointerup", 500, 80); }));
expect("keys zoom", changed(() => press("+")));
expect("colour by stage", changed(() => button("by stage")));
expect("colour by frame", changed(() => button("by frame")));
expect("fit", changed(() => button("fit")));
expect("zooming out of everything does nothing", !changed(() => { mouse("wheel", 600, 80, {deltaY: 100}); press("-"); }));
expect("hovering shows a tip", (() => {
  for (let y = 60; y < canvas.clientHeight; y += 7) {
    for (let x = 200; x < 900; x += 20) {
      mouse("pointermove", x, y);
      if (!document.getElementById("tip").hidden && document.getElementById("tip").textContent.includes("upload")) return true;
    }
  }
})());
note.failures = failures.join();
</script></body>)";

TEST(ReportPage, RunsInABrowser) {
  if (!sightline::test::is_thorough()) GTEST_SKIP() << "opens the page in Chromium: tools/test --thorough";
  ASSERT_NE(chromium(), "") << "no Chromium to load the page in";
  // With one that has nothing to show, and one whose first schedule kept no timeline.
  std::vector<Measurement> all{nasty_measurement(), Measurement(), made_up_measurement(0.4, 25)};
  all[2].schedules[0].timeline.clear();
  const Measurement& m = all[0];
  std::string page = measurements_as_page(all);
  const std::size_t end = page.rfind("</body>");
  page.replace(end, 7, kVisit);
  const std::string dom = loaded(page);
  const std::size_t body = dom.find("<body");
  ASSERT_NE(body, std::string::npos);
  const std::string tag = dom.substr(body, dom.find('>', body) - body);
  std::size_t spans = 0;
  for (const Measurement& measurement : all) {
    for (const ScheduleResult& schedule : measurement.schedules) {
      for (const TracedFrame& frame : schedule.timeline) spans += frame.spans.size();
    }
  }
  EXPECT_THAT(tag, HasSubstr("data-ready=\"yes\""));
  EXPECT_THAT(tag, Not(HasSubstr("data-error")));
  EXPECT_THAT(tag, HasSubstr("data-spans=\"" + std::to_string(spans) + "\""));
  EXPECT_THAT(tag, HasSubstr("data-shown=\"true,true,true,true,true\""));
  EXPECT_THAT(tag, HasSubstr("data-matrices=\"1\""));
  EXPECT_THAT(tag, HasSubstr("data-failures=\"\""));
  expect_numbers(dom, m);

  // The tip tells the times of a span that was.
  std::smatch tip;
  const std::regex form("Frame ([0-9]+) · upload.*?from ([0-9.]+) ms, takes ([0-9.]+) ms");
  ASSERT_TRUE(std::regex_search(dom, tip, form));
  const std::vector<TracedFrame>& frames = m.schedules[3].timeline;
  const auto frame = std::find_if(frames.begin(), frames.end(),
                                  [&](const TracedFrame& f) { return std::to_string(f.frame) == tip[1]; });
  ASSERT_NE(frame, frames.end());
  std::vector<std::string> lengths;
  for (const Span& span : frame->spans) {
    if (span.activity == Activity::upload)
      lengths.push_back(number(static_cast<double>(span.end - span.start) / 1e6, 2));
  }
  EXPECT_THAT(lengths, Contains(tip[3]));
}

}  // namespace
}  // namespace sightline::pipeline::test
