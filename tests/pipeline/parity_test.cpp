// The result for a frame does not depend on where its stages run, on how many frames are in flight, or on how
// many threads there are: boxes and scores are the plain CPU's, bit for bit.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "detectors/filterbank/detector.hpp"
#include "support/filterbank.hpp"
#include "support/same_boxes.hpp"
#include "support/thorough.hpp"

namespace sightline::pipeline {
namespace {

using filterbank::ClassifierKind;
using filterbank::FilterbankDetector;
using sightline::test::random_model;
using sightline::test::random_picture;

class Parity : public ::testing::TestWithParam<ClassifierKind>, public test::SameBoxes {
 protected:
  static filterbank::Options options() {
    filterbank::Options options;
    options.scale_step = 1.4;
    options.threshold = GetParam() == ClassifierKind::linear ? -8 : -700;
    options.computed_scales = 1;   // some levels take their responses from others
    options.border = 8;            // and have windows beyond the frame
    options.rejection_margin = 6;  // and some windows are rejected, by the linear classifier's screen
    return options;
  }

  // The picture is the green channel, others are the red and the blue one.
  static Frame colour_frame(const Image<std::uint8_t>& green, unsigned seed) {
    const Size size = green.view().size();
    const auto red = random_picture(size, seed + 100), blue = random_picture(size, seed + 200);
    std::vector<std::uint8_t> pixels;
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        for (const auto* channel : {&red, &green, &blue}) pixels.push_back(channel->view().at(x, y));
      }
    }
    return frame_from_rgb(pixels.data(), size);
  }

  void SetUp() override {
    detector_ = std::make_unique<FilterbankDetector>(
        random_model(6, 11, GetParam(), GetParam() == ClassifierKind::linear ? 1 : 3), options());
    std::size_t objects = 0;
    // Sizes change within a run and come back, gray and colour alternate; one is too small, one holds a
    // single window.
    for (const Size size : {Size{140, 101}, Size{24, 32}, Size{65, 190}, Size{140, 101}, Size{20, 90},
                            Size{97, 64}, Size{97, 64}, Size{33, 47}, Size{200, 120}}) {
      const auto seed = static_cast<unsigned>(frames_.size()) + 5;
      auto picture = random_picture(size, seed);
      if (frames_.size() % 2 == 0) {
        add_frame(picture);
      } else {
        Frame colour = colour_frame(picture, seed);
        to_gray_reference(colour.view().colour(), picture.view(), 0, size.height);
        add_frame(picture, std::move(colour));
      }
      objects += expected_.back().size();
    }
    ASSERT_GT(objects, 50u);
    device_ = make_stages();
  }

  std::unique_ptr<DeviceStages> device_;
};
INSTANTIATE_TEST_SUITE_P(Classifiers, Parity,
                         ::testing::Values(ClassifierKind::linear, ClassifierKind::distance),
                         [](const auto& instance) {
                           return instance.param == ClassifierKind::linear ? "linear" : "distance";
                         });

TEST_P(Parity, OnTheCpuWithAnyThreadsAndFramesInFlight) {
  for (const int threads : {1, 2, 3, 5, 8, 16}) {
    for (const int in_flight : {1, 2, 3, 8}) {
      SCOPED_TRACE(std::to_string(threads) + " threads, " + std::to_string(in_flight) + " in flight");
      expect_the_same(nullptr, test::on_cpu(in_flight), {threads});
    }
  }
}

// Every mapping, with combinations of threads and frames in flight that meet all numbers of both.
TEST_P(Parity, OfEveryMapping) {
  if (!device_) GTEST_SKIP() << "there is no OpenCL device here whose results are exact";
  constexpr int kThreads[] = {1, 2, 4, 16, 3, 8};
  int round = 0;
  for (unsigned long map = 0; map < 16; ++map) {
    for (int repeat = 0; repeat < 3; ++repeat, ++round) {
      Schedule schedule;
      schedule.on_device = StageSet(map);
      schedule.in_flight = 1 + round % 8;
      const int threads = kThreads[(round + round / 8) % 6];
      SCOPED_TRACE(std::to_string(threads) + " threads, " + std::to_string(schedule.in_flight) +
                   " in flight");
      expect_the_same(device_.get(), schedule, {threads});
    }
  }
}

TEST_P(Parity, OfEverySplit) {
  if (!device_) GTEST_SKIP() << "there is no OpenCL device here whose results are exact";
  constexpr int kThreads[] = {2, 1, 16, 4};
  int round = 0;
  for (const double split : {0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99}) {
    for (int repeat = sightline::test::is_thorough() ? 0 : 1; repeat < 2; ++repeat, ++round) {
      Schedule schedule;
      schedule.split = split;
      schedule.in_flight = 1 + round % 8;
      const int threads = kThreads[round % 4];
      SCOPED_TRACE(std::to_string(threads) + " threads, " + std::to_string(schedule.in_flight) +
                   " in flight");
      expect_the_same(device_.get(), schedule, {threads});
    }
  }
}

// One pipeline, whose slots so see every mapping after every other.
TEST_P(Parity, OfMappingsOneAfterTheOther) {
  if (!device_) GTEST_SKIP() << "there is no OpenCL device here whose results are exact";
  for (const bool poll : {false, true}) {
    PipelineOptions options;
    options.threads = 2;
    options.poll_device = poll;
    Pipeline pipeline(*detector_, device_.get(), test::on_cpu(2), options);
    for (unsigned long step = 0; step < 34; ++step) {
      Schedule schedule;
      schedule.in_flight = 2;
      const unsigned long map = step * 5 % 17;  // 0 to 16 in an order that turns stages on and off
      if (map == 16) {
        schedule.split = 0.4;
      } else {
        schedule.on_device = StageSet(map);
      }
      pipeline.set_schedule(schedule);
      expect_the_same(pipeline);
    }
  }
}

TEST_P(Parity, OfSchedulesThatChangeDuringTheRun) {
  if (!device_) GTEST_SKIP() << "there is no OpenCL device here whose results are exact";
  Pipeline pipeline(*detector_, device_.get(), test::on_cpu(2), {2});
  std::atomic<bool> over{false};
  std::thread changer([&] {
    for (unsigned long step = 0; !over; ++step) {
      Schedule schedule;
      schedule.in_flight = static_cast<int>(1 + step % 5);
      const unsigned long map = step * 7 % 20;
      if (map >= 16) {
        schedule.split = 0.2 * static_cast<double>(map - 15);
      } else {
        schedule.on_device = StageSet(map);
      }
      pipeline.set_schedule(schedule);
      std::this_thread::sleep_for(std::chrono::milliseconds(step % 4));
    }
  });
  for (int run = 0; run < 10; ++run) expect_the_same(pipeline);
  over = true;
  changer.join();
}

}  // namespace
}  // namespace sightline::pipeline
