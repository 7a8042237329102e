// The user is told of compilations that take longer than a moment, and how long they have taken.

#include "opencl/compilation.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "support/log_capture.hpp"

namespace sightline::opencl {
namespace {

using namespace std::chrono_literals;

class Compilation : public testing::Test {
 protected:
  void SetUp() override {
    set_compilation_display([this](double seconds) { ++(seconds < 0 ? ends_ : shown_); });
  }
  void TearDown() override { set_compilation_display({}); }

  std::atomic<int> shown_{0}, ends_{0};
  test::LogCapture log_;
};

TEST_F(Compilation, ShortOnesAreNotAnnounced) {
  {
    CompilationMonitor monitor("a device", 60);
    const auto running = monitor.begin();
    EXPECT_TRUE(monitor.is_compiling());
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(log_.str(), "");
  EXPECT_EQ(shown_, 0);
}

// Ten short ones take as long as a long one.
TEST_F(Compilation, ManyShortOnesAreAnnouncedOnce) {
  {
    CompilationMonitor monitor("a device", 0.1);
    for (int i = 0; i < 10; ++i) {
      const auto running = monitor.begin();
      std::this_thread::sleep_for(50ms);
    }
    EXPECT_FALSE(monitor.is_compiling());
    EXPECT_GE(shown_, 1);
    EXPECT_GE(ends_, 1) << "what is shown must go before others write";
  }
  const std::string text = log_.str();
  ASSERT_NE(text.find("a device"), std::string::npos) << text;
  EXPECT_EQ(text.find("a device"), text.rfind("a device"));
}

TEST_F(Compilation, OverlapsCountOnce) {
  CompilationMonitor monitor("a device", 60);
  auto first = monitor.begin(), second = monitor.begin();
  first.reset();
  EXPECT_TRUE(monitor.is_compiling());
  second.reset();
  EXPECT_FALSE(monitor.is_compiling());
}

}  // namespace
}  // namespace sightline::opencl
