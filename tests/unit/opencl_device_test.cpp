// The OpenCL devices: choosing one, errors in words, queues, clocks and programs on a real one.

#include "opencl/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "opencl/context.hpp"
#include "opencl/error.hpp"
#include "opencl/program.hpp"
#include "opencl/shared_buffer.hpp"
#include "support/filterbank.hpp"

namespace sightline::opencl {
namespace {

using test::error_of;
using test::expect_error;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// --- parse_device_choice --------------------------------------------------------------------------------

TEST(DeviceChoice, IsAWordOrAWordAndUnits) {
  for (const char* what : {"auto", "none", "cpu", "gpu", "0", "17", "GeForce", "a name with blanks"}) {
    const DeviceChoice choice = parse_device_choice(what);
    EXPECT_EQ(choice.what, what);
    EXPECT_EQ(choice.compute_units, 0);
  }
  EXPECT_EQ(parse_device_choice("cpu:1").what, "cpu");
  EXPECT_EQ(parse_device_choice("cpu:1").compute_units, 1);
  EXPECT_EQ(parse_device_choice("pthread:x:12").what, "pthread:x");
  EXPECT_EQ(parse_device_choice("pthread:x:12").compute_units, 12);
}

TEST(DeviceChoice, AnythingElseIsWrongUsage) {
  for (const char* text :
       {"", ":", ":1", "cpu:", "cpu:0", "cpu:-1", "cpu:x", "cpu:1x", "cpu: 1", "cpu:99999999999"}) {
    EXPECT_NE(error_of(ExitCode::usage, [&] { parse_device_choice(text); }), "") << text;
  }
}

// --- choose_device --------------------------------------------------------------------------------------

DeviceInfo made_up_device(int index, const std::string& name, DeviceType type, int units) {
  DeviceInfo device;
  device.index = index;
  device.name = name;
  device.platform = "made up";
  device.type = type;
  device.compute_units = units;
  device.compiler_available = true;
  device.correctly_rounded_divide_sqrt = true;
  return device;
}

std::vector<DeviceInfo> some_devices() {
  return {made_up_device(0, "pthread Skylake", DeviceType::cpu, 8),
          made_up_device(1, "Small GPU", DeviceType::gpu, 4),
          made_up_device(2, "Large GPU", DeviceType::gpu, 80),
          made_up_device(3, "Other GPU", DeviceType::gpu, 80),
          made_up_device(4, "Odd One", DeviceType::accelerator, 200)};
}

int chosen_index(const std::string& what, const std::vector<DeviceInfo>& devices = some_devices()) {
  const auto chosen = choose_device(parse_device_choice(what), devices);
  return chosen ? chosen->device.index : -1;
}

TEST(ChooseDevice, AutoTakesTheLargestUsableGpu) {
  EXPECT_EQ(chosen_index("auto"), 2);
  EXPECT_EQ(chosen_index("AUTO"), 2);
  auto devices = some_devices();
  devices[2].correctly_rounded_divide_sqrt = false;
  devices[3].compiler_available = false;
  EXPECT_EQ(chosen_index("auto", devices), 1);
  EXPECT_FALSE(choose_device(parse_device_choice("auto"), some_devices())->why.empty());
}

TEST(ChooseDevice, AutoTakesNoneWithoutAUsableGpu) {
  EXPECT_EQ(chosen_index("auto", {}), -1);
  EXPECT_EQ(chosen_index("auto", {some_devices()[0], some_devices()[4]}), -1);
  DeviceInfo inexact = some_devices()[2];
  inexact.correctly_rounded_divide_sqrt = false;
  EXPECT_EQ(chosen_index("auto", {some_devices()[0], inexact}), -1);
}

TEST(ChooseDevice, ByTypeIndexAndPartOfTheName) {
  EXPECT_EQ(chosen_index("none"), -1);
  EXPECT_EQ(chosen_index("None", {}), -1);
  EXPECT_EQ(chosen_index("cpu"), 0);
  EXPECT_EQ(chosen_index("CPU"), 0);
  EXPECT_EQ(chosen_index("gpu"), 1);
  EXPECT_EQ(chosen_index("0"), 0);
  EXPECT_EQ(chosen_index("3"), 3);
  EXPECT_EQ(chosen_index("large"), 2);
  EXPECT_EQ(chosen_index("OTHER gpu"), 3);
  EXPECT_EQ(chosen_index("odd"), 4);
}

TEST(ChooseDevice, MissingOnesAreNamedWithThoseThatAreThere) {
  for (const char* what : {"5", "-1", "Radeon"}) {
    EXPECT_THAT(error_of(ExitCode::device, [&] { chosen_index(what); }),
                AllOf(HasSubstr(std::string("'") + what + "'"), HasSubstr("0 'pthread Skylake'"),
                      HasSubstr("4 'Odd One'")));
  }
  EXPECT_THAT(error_of(ExitCode::device, [] { chosen_index("gpu", {some_devices()[0]}); }),
              AllOf(HasSubstr("'gpu'"), HasSubstr("0 'pthread Skylake'")));
  expect_error(ExitCode::device, [] { chosen_index("cpu", {}); });
}

TEST(ChooseDevice, RefusesWhatCannotGiveTheSameResults) {
  auto devices = some_devices();
  devices[0].correctly_rounded_divide_sqrt = false;
  devices[1].compiler_available = false;
  expect_error(ExitCode::device, [&] { chosen_index("0", devices); });
  EXPECT_THAT(error_of(ExitCode::device, [&] { chosen_index("small", devices); }),
              AllOf(HasSubstr("Small GPU"), HasSubstr("compiler")));
}

TEST(ChooseDevice, PassesOverUnusableOnesWhereAUsableOneMatches) {
  auto devices = some_devices();
  devices[1].correctly_rounded_divide_sqrt = false;
  EXPECT_EQ(chosen_index("gpu", devices), 2);
  expect_error(ExitCode::device, "Small GPU", [&] { chosen_index("gpu", {devices[0], devices[1]}); });
}

TEST(ChooseDevice, TakesPartsOfADeviceButNotMoreThanItHas) {
  EXPECT_EQ(choose_device(parse_device_choice("cpu:1"), some_devices())->compute_units, 1);
  EXPECT_EQ(choose_device(parse_device_choice("cpu:8"), some_devices())->compute_units, 8);
  EXPECT_THAT(error_of(ExitCode::device, [] { chosen_index("cpu:99"); }), HasSubstr("99"));
}

// --- choose_devices -------------------------------------------------------------------------------------

std::vector<int> chosen_indices(const std::string& what,
                                const std::vector<DeviceInfo>& devices = some_devices()) {
  std::vector<int> indices;
  for (const ChosenDevice& one : choose_devices(parse_device_choices(what), devices))
    indices.push_back(one.device.index);
  return indices;
}

TEST(ChooseDevices, InTheirOrder) {
  EXPECT_THAT(chosen_indices("3,0,odd"), ElementsAre(3, 0, 4));
  EXPECT_THAT(chosen_indices("auto"), ElementsAre(2));
  EXPECT_THAT(chosen_indices("auto", {}), ElementsAre());
  EXPECT_THAT(chosen_indices("none"), ElementsAre());
  EXPECT_THAT(chosen_indices("all"), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(chosen_indices("GPUs"), ElementsAre(1, 2, 3));
  EXPECT_THAT(chosen_indices("cpu,gpus"), ElementsAre(0, 1, 2, 3));
}

TEST(ChooseDevices, AllLeavesOutWhatCannotBeUsed) {
  auto devices = some_devices();
  devices[2].correctly_rounded_divide_sqrt = false;
  devices[4].compiler_available = false;
  EXPECT_THAT(chosen_indices("all", devices), ElementsAre(0, 1, 3));
  EXPECT_THAT(error_of(ExitCode::device, [] { chosen_indices("gpus", {some_devices()[0]}); }),
              AllOf(HasSubstr("GPU"), HasSubstr("0 'pthread Skylake'")));
}

TEST(ChooseDevices, PartsOfOneDeviceDoNotOverlap) {
  const auto parts = choose_devices(parse_device_choices("cpu:1,gpu,cpu:3,cpu:4"), some_devices());
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_THAT(parts[0].parts_before, ElementsAre());
  EXPECT_THAT(parts[1].parts_before, ElementsAre());
  EXPECT_THAT(parts[2].parts_before, ElementsAre(1));
  EXPECT_THAT(parts[3].parts_before, ElementsAre(1, 3));
  expect_error(ExitCode::usage, "8", [] { chosen_indices("cpu:4,cpu:5"); });
}

TEST(ChooseDevices, RefusesWhatDoesNotGoTogether) {
  for (const char* twice : {"0,1,0", "cpu,0", "all,large", "cpu,cpu:1", "cpu:1,cpu"})
    EXPECT_NE(error_of(ExitCode::usage, [&] { chosen_indices(twice); }), "") << twice;
  for (const char* alone : {"auto,0", "0,none"})
    EXPECT_NE(error_of(ExitCode::usage, [&] { chosen_indices(alone); }), "") << alone;
  for (const char* wrong : {"", "0,", ",0", "0,,1"})
    EXPECT_NE(error_of(ExitCode::usage, [&] { chosen_indices(wrong); }), "") << wrong;
}

// --- errors ---------------------------------------------------------------------------------------------

TEST(OpenClErrors, HaveOpenClsNames) {
  EXPECT_STREQ(error_name(CL_SUCCESS), "CL_SUCCESS");
  EXPECT_STREQ(error_name(CL_OUT_OF_RESOURCES), "CL_OUT_OF_RESOURCES");
  EXPECT_STREQ(error_name(-1001), "CL_PLATFORM_NOT_FOUND_KHR");
  EXPECT_STREQ(error_name(-12345), "an unknown error");
  EXPECT_STREQ(error_name(1), "an unknown error");
  EXPECT_STREQ(error_name(CL_BUILD_PROGRAM_FAILURE), "CL_BUILD_PROGRAM_FAILURE");
  EXPECT_STREQ(error_name(CL_INVALID_COMMAND_QUEUE), "CL_INVALID_COMMAND_QUEUE");
}

TEST(OpenClErrors, NameCallDeviceAndCode) {
  const DeviceError lost(CL_INVALID_COMMAND_QUEUE, "clFinish", "Large GPU");
  EXPECT_EQ(lost.code(), ExitCode::failed);
  EXPECT_EQ(lost.code_number(), CL_INVALID_COMMAND_QUEUE);
  EXPECT_THAT(lost.what(), AllOf(HasSubstr("clFinish"), HasSubstr("'Large GPU'"),
                                 HasSubstr("CL_INVALID_COMMAND_QUEUE (-36)")));
}

TEST(OpenClErrors, CheckThrowsForFailuresOnly) {
  EXPECT_NO_THROW(check(CL_SUCCESS, "clFinish", "d"));
  EXPECT_THROW(check(CL_INVALID_VALUE, "clFinish", "d"), DeviceError);
}

TEST(OpenClErrors, CanBeOrderedForTests) {
  const auto fails = [](const char* call) {
    try {
      check(CL_SUCCESS, call, "d");
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.code_number(), CL_OUT_OF_RESOURCES);
      return true;
    }
    return false;
  };
  fail_calls_for_test("", 2, 1);  // the second call of any name, once
  EXPECT_FALSE(fails("a"));
  EXPECT_TRUE(fails("b"));
  EXPECT_FALSE(fails("c"));
  fail_calls_for_test("b", 2);  // from the second "b" on
  EXPECT_FALSE(fails("b"));
  EXPECT_FALSE(fails("a"));
  EXPECT_TRUE(fails("b"));
  EXPECT_FALSE(fails("a"));
  EXPECT_TRUE(fails("b"));
  fail_calls_for_test("", 0);
  EXPECT_FALSE(fails("b"));
}

// --- on a real device -----------------------------------------------------------------------------------

class OpenClDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    devices_ = list_devices();
    if (devices_.empty()) GTEST_SKIP() << "there is no OpenCL device here";
  }
  void TearDown() override { fail_calls_for_test("", 0); }
  Context open() const { return Context(ChosenDevice{devices_[0], 0, ""}); }

  std::vector<DeviceInfo> devices_;
};

TEST_F(OpenClDevice, IsDescribed) {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const DeviceInfo& d = devices_[i];
    EXPECT_EQ(d.index, static_cast<int>(i));
    EXPECT_FALSE(d.name.empty());
    EXPECT_FALSE(d.platform.empty());
    EXPECT_FALSE(d.driver_version.empty());
    EXPECT_EQ(d.name.find('\0'), std::string::npos);
    EXPECT_THAT(d.version, HasSubstr("OpenCL "));
    EXPECT_GT(d.compute_units, 0);
    EXPECT_GT(d.memory_bytes, 0u);
    EXPECT_GT(d.largest_work_group, 0u);
    EXPECT_NE(d.handle, nullptr);
  }
}

// A copy through the device that a kernel has a share in is more than this needs: fill, write, read.
void expect_working(const Context& context) {
  Queue queue(context);
  const Buffer buffer(context, 400);
  queue.fill(buffer, 7, 400);
  std::vector<std::uint32_t> sent(50);
  std::iota(sent.begin(), sent.end(), 1000u);
  queue.write(buffer, sent.data(), 200, 100);
  std::vector<std::uint32_t> received(100, 0);
  queue.wait(queue.read(buffer, received.data(), 400));
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(received[i], i >= 25 && i < 75 ? 1000u + static_cast<unsigned>(i - 25) : 7u) << i;
}

TEST_F(OpenClDevice, TakesAndGivesData) {
  for (const DeviceInfo& device : devices_) expect_working(Context(ChosenDevice{device, 0, ""}));
}

TEST_F(OpenClDevice, BuffersAreCopiedOrMappedAsAskedFor) {
  for (const DeviceInfo& device : devices_) {
    for (const char* text : {"auto", "copied", "mapped"}) {
      SCOPED_TRACE(device.name + ", " + text);
      const Context context(ChosenDevice{device, 0, "", {}, parse_buffer_use(text)});
      const std::string use = text;
      EXPECT_EQ(context.maps_buffers(), use == "auto" ? device.unified_memory : use == "mapped");
      Queue queue(context);
      SharedBuffer buffer(queue, 400);
      // The host's, the device's, and the host's again.
      std::memset(buffer.host_writes(), 3, 400);
      queue.wait(buffer.to_device());
      queue.fill(buffer.device(), 0x05050505, 200);
      queue.wait(buffer.to_host());
      EXPECT_EQ(std::to_integer<int>(buffer.host()[199]), 5);
      EXPECT_EQ(std::to_integer<int>(buffer.host()[200]), 3);
    }
  }
  EXPECT_EQ(parse_buffer_use(""), BufferUse::automatic);
  expect_error(ExitCode::usage, [] { parse_buffer_use("pinned"); });
}

// Pictures of a folder differ in size from one to the next.
TEST_F(OpenClDevice, BuffersKeepMemoryThatIsLargeEnough) {
  for (const DeviceInfo& device : devices_) {
    for (const BufferUse use : {BufferUse::copied, BufferUse::mapped}) {
      const Context context(ChosenDevice{device, 0, "", {}, use});
      Queue queue(context);
      SharedBuffer buffer;
      buffer.resize(queue, 400);
      const cl_mem memory = buffer.device().get();
      for (const std::size_t bytes : {100, 300, 400}) {
        buffer.resize(queue, bytes);
        EXPECT_EQ(buffer.bytes(), bytes);
        EXPECT_EQ(buffer.device().get(), memory);
        std::memset(buffer.host_writes(), 3, bytes);
        queue.wait(buffer.to_device());
        queue.wait(buffer.to_host());
        EXPECT_EQ(std::to_integer<int>(buffer.host()[bytes - 1]), 3);
      }
      buffer.resize(queue, 500);
      EXPECT_EQ(buffer.bytes(), 500u);
      std::memset(buffer.host_writes(), 4, 500);
      queue.wait(buffer.to_device());
      queue.wait(buffer.to_host());
      EXPECT_EQ(std::to_integer<int>(buffer.host()[499]), 4);
    }
  }
}

TEST_F(OpenClDevice, HasParts) {
  for (const DeviceInfo& device : devices_) {
    if (device.type != DeviceType::cpu || device.compute_units < 2) continue;
    const Context context(ChosenDevice{device, 1, ""});
    EXPECT_EQ(context.device().compute_units, 1);
    EXPECT_EQ(context.name(), device.name + ":1");
    EXPECT_NE(context.id(), static_cast<cl_device_id>(device.handle));
    expect_working(context);
    // All of it is the device itself.
    const Context whole(ChosenDevice{device, device.compute_units, ""});
    EXPECT_EQ(whole.name(), device.name);
    return;
  }
  GTEST_SKIP() << "there is no CPU device with two compute units";
}

TEST_F(OpenClDevice, EmptyBuffersExist) {
  const Context context = open();
  Queue queue(context);
  EXPECT_GE(Buffer(context, 0).bytes(), 1u);
  EXPECT_GE(StagingBuffer(queue, 0).bytes(), 1u);
}

TEST_F(OpenClDevice, ABufferBeyondAllMemoryIsADeviceError) {
  const Context context = open();
  const std::string name = context.name();
  EXPECT_THAT(error_of(ExitCode::failed, [&] { Buffer(context, std::size_t{1} << 60); }),
              AllOf(HasSubstr("clCreateBuffer"), HasSubstr(name), HasSubstr("CL_")));
}

TEST_F(OpenClDevice, ReadingPastABufferIsADeviceError) {
  const Context context = open();
  Queue queue(context);
  const Buffer buffer(context, 64);
  std::vector<std::byte> target(128);
  EXPECT_THROW(queue.read(buffer, target.data(), 128), DeviceError);
  EXPECT_THROW(queue.write(buffer, target.data(), 1, 64), DeviceError);
}

TEST_F(OpenClDevice, StagingMemoryMovesAndIsReleased) {
  const Context context = open();
  Queue queue(context);
  StagingBuffer staging(queue, 4096);
  ASSERT_NE(staging.data(), nullptr);
  std::memset(staging.data(), 0x5A, 4096);
  const std::byte* const where = staging.data();
  StagingBuffer moved(std::move(staging));
  EXPECT_EQ(moved.data(), where);
  EXPECT_EQ(moved.bytes(), 4096u);
  EXPECT_EQ(staging.data(), nullptr);  // NOLINT(bugprone-use-after-move)
  StagingBuffer other(queue, 128);
  other = std::move(moved);
  EXPECT_EQ(other.data(), where);
  EXPECT_EQ(other.bytes(), 4096u);
  StagingBuffer& itself = other;
  other = std::move(itself);
  EXPECT_EQ(other.data(), where);

  const Buffer buffer(context, 4096);
  queue.write(buffer, other.data(), 4096);
  queue.finish();
  StagingBuffer back(queue, 4096);
  queue.wait(queue.read(buffer, back.data(), 4096));
  EXPECT_EQ(std::memcmp(back.data(), where, 4096), 0);
}

TEST_F(OpenClDevice, ClockMapsDeviceTimesIntoTheTimeOfTheWork) {
  using std::chrono::milliseconds;
  const Context context = open();
  Queue queue(context);
  DeviceClock clock;
  EXPECT_TRUE(clock.stale());
  clock.synchronise(queue);
  EXPECT_FALSE(clock.stale());
  EXPECT_GT(clock.uncertainty().count(), 0);
  const auto slack = clock.uncertainty() + std::chrono::microseconds(200);
  const Buffer buffer(context, 8 << 20);
  queue.fill(buffer, 1, 8 << 20);
  queue.finish();
  for (int run = 0; run < 5; ++run) {
    std::this_thread::sleep_for(milliseconds(5));
    const auto before = std::chrono::steady_clock::now();
    const Event event = queue.fill(buffer, 1, 8 << 20);
    queue.wait(event);
    const auto after = std::chrono::steady_clock::now();
    const Event::Times times = event.times(context.name());
    EXPECT_LE(times.queued, times.submitted);
    EXPECT_LE(times.submitted, times.started);
    EXPECT_LE(times.started, times.ended);
    EXPECT_GE(clock.to_host(times.started), before - slack);
    EXPECT_LE(clock.to_host(times.ended), after + slack);
    EXPECT_LT(clock.to_host(times.started), clock.to_host(times.ended));
  }
}

TEST_F(OpenClDevice, ProgramsThatDoNotBuildShowTheCompilersLog) {
  const Context context = open();
  const std::string message = error_of(ExitCode::failed, [&] {
    Program(context, "filterbank/histogram.cl", "-DBINS=no_such_name -DCELLS=16 -DVARIANT_OWNER", nullptr);
  });
  EXPECT_THAT(message, AllOf(HasSubstr("kernels/filterbank/histogram.cl"), HasSubstr("-DBINS=no_such_name"),
                             HasSubstr(context.name()), HasSubstr("error:"), HasSubstr("--device none")));
}

TEST(KernelSource, IncludedFilesStandInThePlaceOfTheLine) {
  const std::string source = program_source("filterbank/filter.cl");
  EXPECT_THAT(source, ::testing::Not(HasSubstr("#include")));
  // Everything once, declarations before what uses them.
  std::size_t last = 0;
  for (const char* text : {"typedef PASTE(float, V) floatv;", "} Tile;", "} Level;",
                           "inline uintv lbp_codes(", "= lbp_codes(", "kernel void filter("}) {
    const std::size_t at = source.find(text);
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_EQ(source.find(text, at + 1), std::string::npos) << text;
    EXPECT_GT(at, last) << text;
    last = at;
  }
  // The folder's common.clh includes what the file could include again.
  EXPECT_THAT(program_source("cascade/scan.cl"), HasSubstr("column_of"));
  EXPECT_THROW(program_source("cascade/nothing.cl"), std::out_of_range);
}

TEST_F(OpenClDevice, UnknownSourcesAndKernelsAreErrors) {
  const Context context = open();
  EXPECT_THROW(kernel_source("filterbank/nothing.cl"), std::out_of_range);
  EXPECT_FALSE(kernel_source("common.clh").empty());
  const Program program(context, "filterbank/candidates.cl", "", nullptr);
  expect_error(ExitCode::failed, "no_such_kernel", [&] { Kernel(program, "no_such_kernel"); });
  EXPECT_GT(Kernel(program, "candidates").largest_work_group(), 0u);
}

TEST_F(OpenClDevice, AnOrderedFailureNamesTheCallThatFailed) {
  const Context context = open();
  Queue queue(context);
  fail_calls_for_test("clFlush", 1);
  expect_error(ExitCode::failed, "clFlush", [&] { queue.flush(); });
  EXPECT_NO_THROW(queue.finish());
}

}  // namespace
}  // namespace sightline::opencl
