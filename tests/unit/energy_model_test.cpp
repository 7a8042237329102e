// What a frame's energy comes to under a schedule, out of made-up stages.

#include "pipeline/planning/energy_model.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temp_dir.hpp"

namespace sightline::pipeline {
namespace {

// Three stages; a device that draws 100 W above idle while it copies, and nothing is shared.
FrameCosts frame_costs() {
  FrameCosts costs;
  costs.threads = 2;
  costs.partitionable = 2;
  costs.stages = {
      {4e-3, 8e-3, 1e-3, 0.1e-3, 0.2e-3}, {2e-3, 4e-3, 1e-3, 0.3e-3, 0.4e-3}, {1e-3, 2e-3, -1, 0, 0}};
  return costs;
}

StageEnergies energies(std::size_t devices = 1) {
  StageEnergies all;
  all.meter = "made-up";
  all.idle_watts = 10;
  all.seen.assign(devices + 1, true);
  all.copy_watts.assign(devices + 1, 100);
  all.copy_watts[0] = 0;
  all.joules.push_back({0.4, 0.2, 0.1});
  for (std::size_t i = 0; i < devices; ++i) all.joules.push_back({0.3, 0.5, std::nullopt});
  return all;
}

Schedule mapped(unsigned long stages) {
  Schedule schedule;
  schedule.on_device = StageSet(stages);
  return schedule;
}

TEST(EnergyModel, AddsUpStagesAndCopies) {
  const DeviceCosts costs(frame_costs());
  const auto above = [&](const Schedule& schedule) {
    return joules_above_idle(energies(), costs, schedule).value();
  };
  EXPECT_NEAR(above(mapped(0)), 0.7, 1e-12);
  EXPECT_NEAR(above(mapped(0b001)), 0.3 + 100 * (0.1e-3 + 0.2e-3) + 0.2 + 0.1, 1e-12);
  EXPECT_NEAR(above(mapped(0b010)), 0.4 + 0.5 + 100 * (0.3e-3 + 0.4e-3) + 0.1, 1e-12);
  EXPECT_NEAR(above(mapped(0b011)), 0.3 + 0.5 + 100 * (0.1e-3 + 0.4e-3) + 0.1, 1e-12);
  Schedule split;
  split.split = 0.25;
  EXPECT_NEAR(above(split), 0.75 * 0.6 + 0.25 * 0.8 + 0.1 + 100 * (0.1e-3 + 0.4e-3), 1e-12);
  EXPECT_NEAR(predicted_joules(energies(), costs, mapped(0), 7e-3).value(), 0.7 + 10 * 7e-3, 1e-12);
}

TEST(EnergyModel, UnseenCountsAsNothingAndUnknownAsUnknown) {
  const DeviceCosts costs(frame_costs());
  StageEnergies card = energies();
  card.seen[0] = false;  // as with a card's own meter
  EXPECT_FALSE(card.sees_all());
  EXPECT_NEAR(joules_above_idle(card, costs, mapped(0)).value(), 0, 1e-12);
  EXPECT_NEAR(joules_above_idle(card, costs, mapped(0b001)).value(), 0.3 + 100 * 0.3e-3, 1e-12);
  card.joules[1][0].reset();
  EXPECT_FALSE(joules_above_idle(card, costs, mapped(0b001)));
  EXPECT_FALSE(predicted_joules(card, costs, mapped(0b001), 1));
  EXPECT_TRUE(joules_above_idle(card, costs, mapped(0b010)));
}

// Frames are dealt to the devices by their speed: three to the first for one to the second.
TEST(EnergyModel, SeveralDevicesHaveTheirShares) {
  FrameCosts slow = frame_costs();
  slow.stages[0].device = 3e-3;
  const DeviceCosts costs(std::vector<FrameCosts>{frame_costs(), slow});
  StageEnergies all = energies(2);
  all.joules[2][0] = 0.7;
  all.copy_watts = {0, 0, 0};
  EXPECT_NEAR(joules_above_idle(all, costs, mapped(0b001)).value(), 0.75 * 0.3 + 0.25 * 0.7 + 0.3, 1e-12);
  Schedule one = mapped(0b001);
  one.devices = DeviceSet(0b10);
  EXPECT_NEAR(joules_above_idle(all, costs, one).value(), 0.7 + 0.3, 1e-12);
  Schedule pinned = mapped(0b001);
  pinned.pinned[0] = 2;
  EXPECT_NEAR(joules_above_idle(all, costs, pinned).value(), 0.7 + 0.3, 1e-12);
}

TEST(EnergyModel, IsStoredByMeter) {
  const sightline::test::TempDir folder;
  const std::string file = folder / "energies.json";
  EXPECT_FALSE(stored_energies(file, "here", "made-up", 3, 2));
  store_energies(file, "here", energies());
  EXPECT_EQ(stored_energies(file, "here", "made-up", 3, 2), energies());
  EXPECT_FALSE(stored_energies(file, "there", "made-up", 3, 2));
  EXPECT_FALSE(stored_energies(file, "here", "another", 3, 2));
  EXPECT_FALSE(stored_energies(file, "here", "made-up", 4, 2)) << "another number of stages";
  EXPECT_FALSE(stored_energies(file, "here", "made-up", 3, 3)) << "of devices";
  StageEnergies odd = energies();
  odd.joules[0][1] = -1;
  store_energies(file, "here", odd);
  EXPECT_FALSE(stored_energies(file, "here", "made-up", 3, 2));
  std::ofstream(file) << R"({"here | energy by made-up": {"meter": 7}})";
  EXPECT_FALSE(stored_energies(file, "here", "made-up", 3, 2));
}

}  // namespace
}  // namespace sightline::pipeline
