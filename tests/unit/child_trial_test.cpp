// Work in a process that can be spared: whatever becomes of it, the parent goes on and knows.

#include "base/child_trial.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "support/temp_dir.hpp"

namespace sightline {
namespace {

using std::chrono::milliseconds;
using test::TempDir;

constexpr milliseconds kPatience = std::chrono::minutes(1);  // for machines that are busy

class ChildTrial : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "there is none under ThreadSanitizer";
#endif
  }
};

TEST_F(ChildTrial, WorkIsDoneThereAlone) {
  const TempDir folder;
  int here = 0;
  EXPECT_EQ(try_in_child(
                [&] {
                  here = 1;
                  test::store(folder / "there", std::string("x"));
                },
                kPatience),
            "");
  EXPECT_EQ(here, 0);
  EXPECT_EQ(test::bytes_of(folder / "there"), "x");
}

TEST_F(ChildTrial, CrashesAreTold) {
  EXPECT_EQ(try_in_child([] { raise(SIGKILL); }, kPatience), "it crashed (Killed)");
  EXPECT_EQ(try_in_child([] { std::abort(); }, kPatience), "it crashed (Aborted)");
}

TEST_F(ChildTrial, AnEndOfItsOwnIsNoSuccess) {
  EXPECT_EQ(try_in_child([] { _exit(0); }, kPatience), "it ended the process, with status 0");
  EXPECT_EQ(try_in_child([] { _exit(3); }, kPatience), "it ended the process, with status 3");
  EXPECT_EQ(try_in_child([] { throw std::runtime_error("no"); }, kPatience),
            "it ended the process, with status 1");
}

TEST_F(ChildTrial, ExitDoesNotDoWhatTheParentHasToDo) {
  const TempDir folder;
  static std::string file;
  file = folder / "at exit";
  std::atexit([] {
    if (!file.empty()) test::store(file, std::string("done"));
  });
  EXPECT_EQ(try_in_child([] { std::exit(0); }, kPatience), "it ended the process, with status 1");
  EXPECT_EQ(test::bytes_of(file), "");
  file.clear();
}

TEST_F(ChildTrial, WhoHangsIsKilled) {
  const TempDir folder;
  EXPECT_EQ(try_in_child(
                [&] {
                  test::store(folder / "id", std::to_string(getpid()));
                  for (;;) pause();
                },
                milliseconds(1500)),
            "it did not answer within 1.5 s");
  const std::string id = test::bytes_of(folder / "id");
  if (!id.empty()) {
    EXPECT_NE(kill(std::stoi(id), 0), 0) << "it is still there";
  }
}

// As on a machine where others take all processors.
TEST_F(ChildTrial, WhoGetsLittleTimeHasMoreOfIt) {
  EXPECT_EQ(try_in_child(
                [] {
                  const auto now = [] { return std::chrono::steady_clock::now(); };
                  for (const auto end = now() + milliseconds(900); now() < end;) {
                    for (const auto pause = now() + std::chrono::microseconds(500); now() < pause;) {
                    }
                    std::this_thread::sleep_for(milliseconds(20));
                  }
                },
                milliseconds(600)),
            "");
}

TEST_F(ChildTrial, WhatItPrintsIsNotSeen) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(try_in_child(
                [] {
                  std::printf("noise\n");
                  std::fflush(stdout);
                },
                kPatience),
            "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST_F(ChildTrial, NothingIsKnownWhereTheSystemReapsChildren) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(try_in_child([] { std::abort(); }, kPatience), std::nullopt);
  std::signal(SIGCHLD, before);
}

}  // namespace
}  // namespace sightline
