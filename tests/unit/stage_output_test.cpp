// Stage measurements for people and programs, of a card's meter that does not see the CPU.

#include "pipeline/report/stage_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

namespace sightline::pipeline {
namespace {

using testing::HasSubstr;
using testing::Not;

Power made_up_power(double watts) {
  return {watts, watts - 1, watts + 1, {watts}, {}, {1980}};
}

StageMeasurement card_measurement() {
  StageMeasurement m;
  m.input = "street.mp4";
  m.frame_size = {768, 576};
  m.seconds = 10;
  m.repeats = 3;
  m.stages = {"filter", "group"};
  m.processors = {"CPU, 8 threads", "Card"};
  m.seen = {false, true};
  m.meter = "NVML Card";
  m.meter_note = "the GPU";
  m.meter_names = {"NVML Card"};
  m.idle_before = made_up_power(80);
  m.idle_after = made_up_power(90);
  m.idle_watts = 85;
  const auto row = [&](const char* name, std::size_t stage, std::size_t processor,
                       double seconds) -> AloneRow& {
    AloneRow& one = m.rows.emplace_back();
    one.name = name;
    one.stage = stage;
    one.processor = processor;
    one.seconds = seconds;
    one.power = made_up_power(processor == 0 ? 85 : 285);
    return one;
  };
  row("filter", 0, 0, 10e-3);
  row("group", 1, 0, 1e-9);
  row("filter", 0, 1, 1e-3).joules = FrameJoules{0.285, 0.2, 0.01, {}};
  AloneRow& upload = row("upload", 0, 1, 1e-4);
  upload.kind = AloneRow::Kind::upload;
  upload.joules = FrameJoules{0.0095, 0.001, 0.0005, {}};
  WholeRow& gpu = m.schedules.emplace_back();
  gpu.name = "gpu";
  gpu.mapping = "filter=gpu group=cpu";
  gpu.fps = 1000;
  gpu.power = made_up_power(290);
  gpu.joules = FrameJoules{0.29, 0.205, 0.002, {}};
  gpu.stages_joules = 0.215;
  gpu.predicted_joules = 0.3;
  m.mappings = m.schedules;
  return m;
}

TEST(StageOutput, SaysHowSureTheIdlePowerIs) {
  StageMeasurement m = card_measurement();
  EXPECT_DOUBLE_EQ(idle_error(m), 5);
  EXPECT_THAT(stages_as_text(m), HasSubstr("idle power is known within 5.00 W (80.0 before, 90.0 after)"));
  m.idle_before = m.idle_after = made_up_power(85);
  EXPECT_DOUBLE_EQ(idle_error(m), 1) << "half of what it scattered by";
  EXPECT_THAT(stages_as_text(m), testing::Not(HasSubstr("is known within")));
  m.idle_before->lowest = 75;
  m.idle_before->highest = 97;
  EXPECT_DOUBLE_EQ(idle_error(m), 11) << "both alike, but what was before scattered";
  m.idle_before.reset();
  EXPECT_EQ(idle_error(m), 0);
}

TEST(StageOutput, WhatNoMeterSeesIsNotZero) {
  const std::string text = stages_as_text(card_measurement());
  EXPECT_THAT(text, HasSubstr("no meter sees A (CPU, 8 threads)"));
  std::istringstream lines(text);
  int unseen = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 130u) << line;
    if (line.find("not seen") != std::string::npos) ++unseen;
  }
  EXPECT_EQ(unseen, 2);
  EXPECT_THAT(text, HasSubstr("filter: B is 10.0 times as fast as A\n")) << "and nothing of its energy";
  EXPECT_THAT(text, HasSubstr("<0.001"));
  EXPECT_THAT(text, HasSubstr("1980"));
  EXPECT_THAT(text, HasSubstr("-10.0")) << "the whole takes less than the sum";
  const auto json = nlohmann::json::parse(stages_as_json(card_measurement()));
  EXPECT_TRUE(json.at("processors")[1].at("seen_by_meter").get<bool>());
  EXPECT_FALSE(json.at("processors")[0].at("seen_by_meter").get<bool>());
  for (const auto& row : json.at("alone"))
    EXPECT_EQ(row.at("joules").is_null(), row.at("processor") == "CPU, 8 threads") << row;
  EXPECT_NEAR(json.at("schedules")[0].at("explained").at("rest").get<double>(), -0.01, 1e-12);
  const StageEnergies energies = energies_of(card_measurement());
  EXPECT_FALSE(energies.joules[0][0]);
  EXPECT_EQ(energies.joules[1][0], 0.2);
  EXPECT_NEAR(energies.copy_watts[1], 10, 1e-9);
  EXPECT_FALSE(energies.sees_all());
}

TEST(StageOutput, RowsOfTheCsvAreAsLongAsItsHeader) {
  StageMeasurement m = card_measurement();
  m.part_names = {"RAPL core"};
  m.meter_names = {"NVML Card"};
  for (Power* power : {&*m.idle_before, &*m.idle_after}) power->parts = {1};
  for (AloneRow& row : m.rows) row.power->parts = {1};
  for (auto* rows : {&m.schedules, &m.mappings}) rows->front().power->parts = {1};
  std::istringstream lines(stages_as_csv(m));
  std::vector<std::ptrdiff_t> commas;
  for (std::string line; std::getline(lines, line);) {
    bool quoted = false;
    commas.push_back(std::ranges::count_if(line, [&](char c) {
      if (c == '"') quoted = !quoted;
      return c == ',' && !quoted;
    }));
  }
  EXPECT_EQ(commas.size(), 1u + 2 + 4 + 2);
  EXPECT_EQ(std::ranges::count(commas, commas.front()), static_cast<std::ptrdiff_t>(commas.size()));
}

TEST(StageOutput, BarsAndPage) {
  StageMeasurement m = card_measurement();
  for (const std::string& svg : {stages_as_svg(m), stages_as_page(m)}) {
    EXPECT_THAT(svg, HasSubstr("not seen"));
    EXPECT_THAT(svg, HasSubstr("285.0"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("height=\"-")));
  }
  m.rows.clear();
  m.schedules.clear();
  m.mappings.clear();
  EXPECT_THAT(stages_as_page(m), HasSubstr("</html>"));
}

}  // namespace
}  // namespace sightline::pipeline
