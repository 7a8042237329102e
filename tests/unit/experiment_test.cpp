// Experiments: what is run how often, what is worked out of it, and how it is put.
#include "pipeline/measurement/experiment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "pipeline/report/experiment_output.hpp"

namespace sightline::pipeline {
namespace {

using testing::HasSubstr;
using testing::Not;

// What was made and searched, in order.
struct Log {
  std::vector<std::string> turns;
  std::map<std::string, int> searches;
};

Implementation fake(Log& log, const std::string& name, int objects, bool is_ours = true) {
  return {name, "", "somewhere", is_ours, [&log, name, objects] {
            log.turns.push_back(name);
            return Search{[&log, name, objects](GrayView picture) {
              ++log.searches[name];
              FrameResult result;
              for (int i = 0; i < objects; ++i)
                result.objects.push_back({{1.0 * i, 2, 1.0 * picture.width(), 4}});
              return result;
            }};
          }};
}

std::vector<ExperimentPicture> some_pictures() {
  std::vector<ExperimentPicture> pictures;
  pictures.push_back({"a", "one", Image<std::uint8_t>(20, 10)});
  pictures.push_back({"b", "two", Image<std::uint8_t>(30, 10)});
  return pictures;
}

ExperimentOptions quick(int repeats) {
  ExperimentOptions options;
  options.repeats = repeats;
  options.meters.powercap = options.meters.hwmon = options.meters.power_supply = "/none";
  options.meters.nvml.clear();
  return options;
}

TEST(Experiments, ImplementationsTakeTurns) {
  Log log;
  const Experiment e = run_experiment({fake(log, "x", 2), fake(log, "y", 2)}, some_pictures(), quick(7));
  // Five runs, then the other two, of each picture.
  EXPECT_EQ(log.turns, (std::vector<std::string>{"x", "y", "x", "y", "x", "y", "x", "y"}));
  EXPECT_GE(log.searches["x"], 2 * (7 + 2)) << "each turn is warmed up";
  ASSERT_EQ(e.pictures.size(), 2u);
  for (const PictureResult& picture : e.pictures) {
    for (const PictureTimes& times : picture.times) {
      EXPECT_EQ(times.seconds.size(), 7u);
      EXPECT_EQ(times.objects, 2);
      EXPECT_FALSE(times.joules) << "there is no meter";
    }
  }
  EXPECT_TRUE(e.differences.empty());
  EXPECT_THAT(experiments_as_text({&e, 1}), HasSubstr("all 2 variants of Sightline found the same objects"));
}

TEST(Experiments, OursMustFindTheSameAndOthersNeedNot) {
  Log log;
  const Experiment e = run_experiment({fake(log, "other", 5, false), fake(log, "x", 2), fake(log, "y", 3)},
                                      some_pictures(), quick(6));
  EXPECT_EQ(e.baseline, 0u);
  ASSERT_EQ(e.differences.size(), 2u) << "once a picture";
  EXPECT_THAT(e.differences[0], HasSubstr("y finds other objects in a than x"));
  EXPECT_THAT(experiments_as_text({&e, 1}), HasSubstr(e.differences[1]));
  EXPECT_THAT(experiments_as_text({&e, 1}), Not(HasSubstr("found the same")));
  EXPECT_THAT(experiments_as_page({&e, 1}), HasSubstr(e.differences[0]));
}

TEST(Experiments, WhatIsDoneIsKeptWhenStopped) {
  Log log;
  std::atomic<bool> stop = false;
  ExperimentOptions options = quick(5);
  options.stop = &stop;
  options.progress = [&](const std::string& what) { stop = what.starts_with("picture 2"); };
  EXPECT_EQ(run_experiment({fake(log, "x", 1)}, some_pictures(), options).pictures.size(), 1u);
  stop = true;
  options.progress = nullptr;
  EXPECT_THROW(run_experiment({fake(log, "x", 1)}, some_pictures(), options), Error);
}

// Two groups; the second implementation is the baseline.
Experiment made_up_experiment() {
  Log log;
  Experiment e;
  e.input = "a <folder>, \"quoted\"";
  e.repeats = 2;
  e.implementations = {fake(log, "ours", 0), fake(log, "theirs", 0, false)};
  e.implementations[0].buffers = "mapped";
  e.baseline = 1;
  const auto picture = [](const char* name, const char* group, double ours, double theirs) {
    PictureResult result{name, group, {4, 3}, {}};
    result.times = {{{ours * 0.9, ours * 1.1}, 3, 0.5, {}}, {{theirs, theirs}, 4, {}, {}}};
    return result;
  };
  e.pictures = {picture("p", "big", 0.010, 0.040), picture("q", "big", 0.040, 0.160),
                picture("r", "small", 0.002, 0.001)};
  return e;
}

TEST(Experiments, GeometricMeansOfGroups) {
  const Experiment e = made_up_experiment();
  EXPECT_EQ(e.groups(), (std::vector<std::string>{"big", "small"}));
  const GroupTimes big = e.group_times("big", 0);
  EXPECT_NEAR(big.seconds, 0.020, 1e-12);
  EXPECT_NEAR(big.speed_up, 4, 1e-9);
  EXPECT_NEAR(big.deviation, std::sqrt(0.02), 1e-9);  // of 0.9 and 1.1
  EXPECT_EQ(big.objects, 6);
  EXPECT_NEAR(big.joules.value(), 0.5, 1e-12);
  EXPECT_FALSE(e.group_times("big", 1).joules);
  EXPECT_NEAR(e.group_times("big", 1).speed_up, 1, 1e-12);
  EXPECT_NEAR(e.group_times("small", 0).speed_up, 0.5, 1e-9);
  EXPECT_EQ(e.fastest("small"), 0u) << "of ours";
}

TEST(Experiments, PartsOfASearchAreTheLeastOfTheRuns) {
  const std::vector<Implementation> one{{"x", "", "there", true, [] {
                                           return Search{
                                               [](GrayView) { return FrameResult(); },
                                               [seconds = 3.0]() mutable {
                                                 return std::vector<std::pair<std::string, double>>{
                                                     {"upload", seconds = 5 - seconds}};  // 2, 3, 2, ...
                                               }};
                                         }}};
  const Experiment e = run_experiment(one, some_pictures(), quick(3));
  EXPECT_EQ(e.pictures[0].times[0].parts.at("upload"), 2);
  EXPECT_EQ(e.group_times("one", 0).parts.at("upload"), 2);
  EXPECT_THAT(experiments_as_text({&e, 1}), HasSubstr(" 2000\n"));
}

TEST(Experiments, ForPeopleAndPrograms) {
  const Experiment e = made_up_experiment();
  const std::string text = experiments_as_text({&e, 1});
  EXPECT_THAT(text, HasSubstr("speed-up against theirs"));
  EXPECT_THAT(text, HasSubstr("big: 2 pictures, 4x3"));
  EXPECT_THAT(text, HasSubstr("fastest: ours, mapped with 20.0 ms, 4.00 times as fast as theirs"));

  const auto json = nlohmann::json::parse(experiment_as_json(e));
  EXPECT_EQ(json.at("baseline"), "theirs");
  EXPECT_NEAR(json.at("groups")[0].at("times")[0].at("ms").get<double>(), 20, 1e-9);
  EXPECT_EQ(json.at("pictures")[2].at("times")[1].at("objects"), 4);
  EXPECT_EQ(json.at("pictures")[2].at("times")[1].at("joules"), nullptr);

  std::istringstream csv(experiment_as_csv(e));
  std::vector<std::string> rows;
  for (std::string line; std::getline(csv, line);) rows.push_back(line);
  ASSERT_EQ(rows.size(), 1u + 3 * 2 + 2 * 2);
  const auto commas = [](const std::string& row) { return std::count(row.begin(), row.end(), ','); };
  for (const std::string& row : rows) EXPECT_EQ(commas(row), commas(rows[0])) << row;
  EXPECT_THAT(rows[1], HasSubstr("big,p,4,3,ours,mapped,somewhere,2,"));

  const std::string page = experiments_as_page({&e, 1});
  EXPECT_THAT(page, HasSubstr("a &lt;folder&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("a <folder>")));
  EXPECT_THAT(page, HasSubstr("<dt>Deviation</dt>"));
}

}  // namespace
}  // namespace sightline::pipeline
