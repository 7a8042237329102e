// The commands beside `detect` and `live`, call by call: what fails is said, and what is left is whole.

#include <nlohmann/json.hpp>

#include "faces/gallery/gallery.hpp"
#include "support/media.hpp"
#include "support/thorough.hpp"
#include "sweep.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;

class FaultsInCommands : public testing::Test {
 protected:
  /// Pictures to train and to judge a small model on.
  void make_pictures() const {
    fs::create_directories(folder_ / "positives");
    fs::create_directories(folder_ / "negatives");
    for (const std::string graph : {"testsrc", "testsrc2", "mandelbrot"}) {
      media::test::make_clip(folder_ / ("positives/" + graph + ".png"),
                             graph + "=size=64x128,trim=end_frame=1");
      media::test::make_clip(folder_ / ("negatives/" + graph + ".png"),
                             graph + "=size=200x160,trim=end_frame=1");
    }
  }
  /// A video with so many frames. Reading it costs less than generating its pictures in each run.
  std::string clip_of(int frames) const {
    media::test::make_clip(folder_ / "clip.mp4", moving_clip(120, 200, frames).substr(6));
    return folder_ / "clip.mp4";
  }
  Words pictures() const {
    return {"--positives", folder_ / "positives", "--negatives", folder_ / "negatives"};
  }
  Words training(const std::string& folder) const {
    return Words{"train",      "filterbank",
                 "--patches",  "2000",
                 "--filters",  "4",
                 "--rounds",   "1",
                 "--state",    folder + "/state",
                 "-o",         folder + "/m.safetensors",
                 "--overwrite"} +
           pictures();
  }

  /// Every kind of call that the run makes fails, once and from then on.
  static void sweep(const Sweep& sweep, const std::function<void(const FaultRun&)>& check, int points = 10) {
    for (const char* kind : {"open", "read", "decode", "write", "allocate"}) {
      if (sweep.calls(kind) == 0) continue;
      sweep.over(kind, false, points, check);
      sweep.over(kind, true, points / 2, check);
    }
  }
  /// What is there is what the run without a fault has left there.
  static void expect_whole(const FaultRun& run, const Sweep& sweep, const std::string& name) {
    const std::string file = run.folder + "/" + name;
    EXPECT_EQ(fs::exists(file), run.outcome.exit_code == 0) << run.order << ": " << run.outcome.err;
    if (fs::exists(file)) {
      EXPECT_EQ(bytes_of(file), bytes_of(sweep.whole() + "/" + name)) << run.order;
    }
  }

  TempDir folder_;
};

// A training that ended goes on from what it has kept, and gives the same model.
TEST_F(FaultsInCommands, Train) {
  make_pictures();
  const Sweep train([&](const std::string& folder) { return training(folder); });
  const auto check = [&](const FaultRun& run) {
    exits_with({0, 1, 2, 3, 4})(run);
    expect_whole(run, train, "m.safetensors");
    expect_run(0, training(run.folder));
    EXPECT_EQ(bytes_of(run.folder + "/m.safetensors"), bytes_of(train.whole() + "/m.safetensors"))
        << run.order;
    for (const auto& entry : fs::recursive_directory_iterator(run.folder))
      EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path() << " is left";
  };
  sweep(train, check);
  const Sweep without_memory([&](const std::string& folder) { return training(folder); },
                             SIGHTLINE_FAILING_NEW);
  const long command_line = without_memory.calls_of_command_line("make");
  without_memory.over("make", false, 20, exits_with({0, 1}), command_line);
  without_memory.over("make", true, 10, exits_with({0, 1}), command_line);
}

TEST_F(FaultsInCommands, Evaluate) {
  make_pictures();
  expect_run(0, training(folder_.path()));
  const Sweep windows([&](const std::string& folder) {
    return Words{"evaluate", "windows",         "-m",    folder_ / "m.safetensors",
                 "--csv",    folder + "/c.csv", "--svg", folder + "/c.svg"} +
           pictures();
  });
  sweep(windows, [&](const FaultRun& run) {
    exits_with({0, 1, 2, 3, 4})(run);
    expect_whole(run, windows, "c.svg");
    EXPECT_EQ(test::unfinished(run.folder + "/c.csv"), "");
  });
  media::test::store(folder_ / "truth.txt", "1,1,10,10,41,100,1\n");
  const std::string clip = clip_of(2);
  const Sweep frames([&](const std::string& folder) {
    return Words{"evaluate",
                 "frames",
                 clip,
                 "--truth",
                 folder_ / "truth.txt",
                 "-m",
                 folder_ / "m.safetensors",
                 "--device",
                 "none",
                 "--csv",
                 folder + "/c.csv"};
  });
  sweep(frames, [&](const FaultRun& run) {
    exits_with({0, 1, 2, 3, 4})(run);
    EXPECT_EQ(fs::exists(run.folder + "/c.csv"), run.outcome.exit_code == 0) << run.order;
  });
}

TEST_F(FaultsInCommands, Samples) {
  make_pictures();
  media::test::store(folder_ / "boxes.txt",
                     "testsrc.png 10 20 50 110\ntestsrc2.png 5 5 60 120\nmandelbrot.png 10 20 50 110\n");
  const Sweep samples([&](const std::string& folder) {
    return Words{"samples",
                 folder_ / "positives",
                 "--boxes",
                 folder_ / "boxes.txt",
                 "--backgrounds",
                 folder_ / "negatives",
                 "--copies",
                 "2",
                 "--test-share",
                 "0.4",
                 "--scenes",
                 "1",
                 "-o",
                 folder + "/out"};
  });
  sweep(samples, [&](const FaultRun& run) {
    exits_with({0, 1, 2, 3})(run);
    expect_whole(run, samples, "out/samples.json");
    EXPECT_EQ(fs::exists(run.folder + "/out"), run.outcome.exit_code == 0) << run.order;
    for (const auto& entry : fs::recursive_directory_iterator(run.folder))
      EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path() << " is left";
  });
}

TEST_F(FaultsInCommands, ModelShow) {
  make_pictures();
  expect_run(0, training(folder_.path()));
  const Sweep show([&](const std::string& folder) {
    return Words{"model", "show", folder_ / "m.safetensors", "--picture", folder + "/m.png"};
  });
  sweep(show, [&](const FaultRun& run) {
    exits_with({1, 4})(run);
    expect_whole(run, show, "m.png");
  });
}

TEST_F(FaultsInCommands, Measure) {
  const std::string clip = clip_of(3);
  const Sweep measure([&](const std::string& folder) {
    return Words{"measure",     clip,
                 "--schedules", "cpu",
                 "--frames",    "10",
                 "--repeats",   "1",
                 "--device",    "none",
                 "--json",      folder + "/m.json",
                 "--csv",       folder + "/m.csv"} +
           kFindsSome;
  });
  sweep(
      measure,
      [&](const FaultRun& run) {
        exits_with({0, 1, 2, 3, 4})(run);
        if (fs::exists(run.folder + "/m.json")) {
          EXPECT_TRUE(Json::accept(bytes_of(run.folder + "/m.json"))) << run.order;
        }
      },
      6);
}

// Whatever fails, the gallery is what it was before or after, and what is exported is whole or not there.
TEST_F(FaultsInCommands, Faces) {
  using gallery::Gallery;
  const std::string made = folder_ / "made.gallery";
  {
    Gallery gallery = Gallery::open_or_make(made, {"small", "0123", "of tests", 2});
    gallery.add("Ada",
                std::vector<gallery::NewTemplate>{{{1, 2}, "picture", "a.png"}, {{1, 3}, "", "b.png"}});
    gallery.add("Grace", std::vector<gallery::NewTemplate>{{{2, 2}, "picture", "c.png"}});
  }
  const auto people = [](const std::string& file) {
    Words names;
    for (const auto& one : Gallery(file, Gallery::Access::read).people())
      names.push_back(one.name + " " + std::to_string(one.templates));
    return names;
  };
  const Words before = people(made);
  const auto file = [](const std::string& folder) { return folder + "/g.gallery"; };
  const auto sweep_command = [&](const Words& words, const Words& after) {
    const Sweep command([&](const std::string& folder) {
      fs::copy_file(made, file(folder), fs::copy_options::overwrite_existing);
      return Words{"faces"} + words + Words{"--gallery", file(folder)};
    });
    sweep(command, [&](const FaultRun& run) {
      exits_with({0, 1, 3})(run);
      const Words now = people(file(run.folder));
      EXPECT_TRUE(now == after || (run.outcome.exit_code != 0 && now == before))
          << run.order << run.outcome.err;
    });
  };
  sweep_command({"rename", "Ada", "Hedy"}, {"Grace 1", "Hedy 2"});
  sweep_command({"delete", "Ada"}, {"Grace 1"});
  const Sweep exported([&](const std::string& folder) {
    return Words{"faces", "export", file(folder), "--gallery", made};
  });
  sweep(exported, [&](const FaultRun& run) {
    exits_with({0, 1, 3})(run);
    EXPECT_EQ(fs::exists(file(run.folder)), run.outcome.exit_code == 0) << run.order;
    if (fs::exists(file(run.folder))) {
      EXPECT_EQ(people(file(run.folder)), before);
    }
  });
}

// Whatever fails, a part is whole or not there, and what is merged later is what one machine writes.
TEST_F(FaultsInCommands, Batch) {
  const std::string clip = clip_of(6), job = folder_ / "job";
  const std::string expected = run(Words{"-q", "detect", clip} + kFindsSome).out;
  expect_run(0, "", Words{"batch", "plan", clip, "--job", job, "--chunk", "100"} + kFindsSome);
  const auto merging = [](const std::string& folder) {
    return Words{"-q", "batch", "merge", folder + "/job", "--overwrite", "-o", folder + "/o.jsonl"};
  };
  const Sweep work([&](const std::string& folder) {
    fs::copy(job, folder + "/job", fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    for (const auto& part : fs::directory_iterator(folder + "/job/parts")) fs::remove(part);
    return Words{"batch", "work", folder + "/job", "--threads", "1", "--device", "none"};
  });
  sweep(
      work,
      [&](const FaultRun& run) {
        exits_with({0, 1, 2, 3, 4})(run);
        EXPECT_EQ(files_in(run.folder + "/job/parts"), run.outcome.exit_code == 0 ? 1u : 0u) << run.order;
        expect_run(0, "", {"-q", "batch", "work", run.folder + "/job", "--device", "none"});
        // A decoder that fails again and again is a damaged video.
        const bool is_damaged = run.outcome.exit_code == 0 && run.order.ends_with('+');
        const Outcome merged = sightline::test::run(merging(run.folder));
        EXPECT_TRUE(merged.exit_code == 0 || (merged.exit_code == 3 && is_damaged))
            << run.order << merged.err;
        if (merged.exit_code == 0) {
          EXPECT_EQ(bytes_of(run.folder + "/o.jsonl"), expected) << run.order;
        }
      },
      6);
  expect_run(0, "", {"-q", "batch", "work", job});
  const Sweep merge([&](const std::string& folder) {
    fs::copy(job, folder + "/job", fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    return merging(folder);
  });
  sweep(
      merge,
      [&](const FaultRun& run) {
        exits_with({0, 1, 2, 3})(run);
        if (run.outcome.exit_code != 0) return;
        EXPECT_EQ(bytes_of(run.folder + "/o.jsonl"), expected) << run.order;
      },
      6);
}

// A device that fails while it is tuned is an error.
TEST_F(FaultsInCommands, Tune) {
  if (!has_cpu_device()) GTEST_SKIP() << "there is no OpenCL device on the CPU here";
  if (!is_thorough())
    GTEST_SKIP() << "builds the kernels of all variants, for minutes: tools/test --thorough";
  const std::string clip = moving_clip(96, 160, 1);
  const Sweep tune([&](const std::string&) { return Words{"tune", clip, "--device", "cpu"}; });
  for (const bool onwards : {false, true}) {
    tune.over("opencl", onwards, onwards ? 3 : 5, exits_with({0, 1, 5}));
  }
  tune.over("write", true, 2, exits_with({1}));
}

// A device that fails while schedules are tried is left out, and the CPU finds what it would have found.
TEST_F(FaultsInCommands, Auto) {
  if (!has_cpu_device()) GTEST_SKIP() << "there is no OpenCL device on the CPU here";
  const TempDir caches;
  // What was measured is forgotten before each run, so that it is measured again. The first run only builds
  // kernels.
  DetectSweep automatic(
      [&] {
        fs::remove(caches / "sightline/schedules.json");
        const char* const schedule = fs::exists(caches / "sightline/kernels") ? "auto" : "gpu";
        return kFindsSome + Words{"--device", "cpu", "--schedule", schedule};
      },
      "", caches.path(), 1);
  automatic.one_at_a_time();
  // A late failure costs a run of the whole measurement.
  const long last = is_thorough() ? 0 : automatic.calls("opencl") / 10;
  for (const bool onwards : {false, true}) {
    automatic.over(
        "opencl", onwards, onwards ? 4 : 8,
        [](const FaultRun& run) {
          const bool begun = fs::exists(run.folder + "/o.jsonl");
          exits_with({begun || run.struck.empty() ? 0 : 5})(run);
          EXPECT_EQ(run.lines, begun ? 6 : 0) << run.order << run.outcome.err;
        },
        1, last);
  }
}

}  // namespace
}  // namespace sightline::test
