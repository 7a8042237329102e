// Whatever can fail is made to fail, one call after the other: no run crashes or hangs, each ends with the
// right code and words, and what it leaves is whole.

#include <nlohmann/json.hpp>

#include "support/media.hpp"
#include "support/thorough.hpp"
#include "sweep.hpp"

namespace sightline::test {
namespace {

const Words kOnCpu = kFindsSome + Words{"--device", "none"};

const DetectSweep& on_cpu() {
  static const DetectSweep sweep(kOnCpu);
  return sweep;
}

TEST(FaultSweep, Open) {
  on_cpu().over("open", false, 100, exits_with({1, 2, 3, 4}));
}

TEST(FaultSweep, Read) {
  for (const bool onwards : {false, true}) {
    on_cpu().over("read", onwards, onwards ? 20 : 100, [onwards](const FaultRun& run) {
      if (run.struck != "av_read_frame") {
        exits_with({run.struck == "Safetensors" ? 4 : 3})(run);
      } else if (onwards) {  // not at the end of the file, where there was nothing more to read
        exits_with({3})(run);
      } else {  // it is tried again
        exits_with({0})(run);
        EXPECT_EQ(run.lines, 6) << run.order;
      }
    });
  }
}

TEST(FaultSweep, Decode) {
  for (const bool onwards : {false, true})
    on_cpu().over("decode", onwards, onwards ? 15 : 100, exits_with({0, 3}));
}

TEST(FaultSweep, Encode) {
  for (const bool onwards : {false, true}) {
    on_cpu().over("encode", onwards, 100,
                  [](const FaultRun& run) { exits_with({run.struck == "avcodec_open2" ? 2 : 1})(run); });
  }
}

TEST(FaultSweep, Write) {
  for (const bool onwards : {false, true}) {
    on_cpu().over("write", onwards, 100, [onwards](const FaultRun& run) {
      // Where one index for all cannot be written, the fragments stay, which are a video, too.
      const bool joining = run.struck == "join_fragments";
      exits_with(!joining ? std::vector{1} : onwards ? std::vector{0, 1} : std::vector{0})(run);
    });
  }
}

TEST(FaultSweep, AllocateInLibraries) {
  on_cpu().over("allocate", false, 200, exits_with({0, 1, 3}));
  on_cpu().over("allocate", true, 20, exits_with({0, 1, 3}));
}

TEST(FaultSweep, AllocateOurselves) {
  const DetectSweep sweep(kOnCpu, SIGHTLINE_FAILING_NEW);
  const long command_line = sweep.calls_of_command_line("make");
  // Without memory for the command line nothing begins; later, what is lost may be no more than a line of the
  // log.
  sweep.over("make", false, 8, exits_with({1}), 1, command_line);
  sweep.over("make", false, 70, exits_with({0, 1}), command_line);
  sweep.over("make", true, 40, exits_with({0, 1}), command_line);
}

// The same of `live`, whose capture and recording have threads of their own.
TEST(FaultSweep, Live) {
  const TempDir folder;
  media::test::make_clip(folder / "in.mkv", "testsrc2=size=120x200:rate=10:duration=0.6");
  const auto live = [&](const std::string& order) {
    std::filesystem::create_directory(folder / "out");
    RunSetup setup;
    setup.program = SIGHTLINE_FAILING_NEW;
    setup.environment = {"SIGHTLINE_FAULT=" + order};
    const Outcome outcome = run(Words{"live", folder / "in.mkv", "--headless", "--pace", "0", "--record",
                                      folder / "out/o.mp4", "-d", folder / "out/o.jsonl"} +
                                    kOnCpu,
                                setup);
    parse_lines(bytes_of(folder / "out/o.jsonl"));
    std::filesystem::remove_all(folder / "out");
    return outcome;
  };
  EXPECT_EQ(live("read:1000000").exit_code, 0);
  Words orders{"open:3",   "open:4+", "read:11+", "decode:3", "decode:8+",  "encode:2",
               "encode:5", "write:2", "write:4+", "write:9",  "allocate:9", "allocate:30+"};
  for (int n = 1; n < 10500; n += static_cast<int>(sampling_step(n < 7000 ? 1400 : 230)))
    orders.push_back("make:" + std::to_string(n) + "+");
  for (const std::string& order : orders) {
    const Outcome outcome = live(order);
    SCOPED_TRACE(order + ": " + outcome.err);
    EXPECT_LE(outcome.exit_code, 4) << "it crashed";
    EXPECT_EQ(outcome.exit_code != 0, outcome.err.find("error: ") != std::string::npos);
  }
}

// The device is disabled, and the CPU finds what it would have found. DeviceFaults sweeps the same calls in
// the process, and more of them.
TEST(FaultSweep, OpenclLosesNothing) {
  if (!has_cpu_device()) GTEST_SKIP() << "there is no OpenCL device on the CPU here";
  const TempDir caches;
  for (const char* schedule : {"gpu", "specialized", "overlap"}) {
    std::printf("schedule %s, ", schedule);
    const DetectSweep sweep(kFindsSome + Words{"--device", "cpu", "--schedule", schedule}, "", caches.path());
    for (const bool onwards : {false, true}) {
      sweep.over("opencl", onwards, onwards ? 9 : 24, [](const FaultRun& run) {
        // 5 only where the device fails before the run begins.
        const bool begun = std::filesystem::exists(run.folder + "/o.jsonl");
        exits_with({begun || run.struck.empty() ? 0 : 5})(run);
        EXPECT_EQ(run.outcome.err.find(" failed; first reason"), std::string::npos)
            << run.order << run.outcome.err;
        EXPECT_EQ(run.lines, begun ? 6 : 0) << run.order;
      });
    }
  }
}

}  // namespace
}  // namespace sightline::test
