// The search for the nearest templates on OpenCL devices, against its definition.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "faces/recognition/opencl/search.hpp"
#include "kernels/opencl_test.hpp"
#include "kernels/recognition_search.hpp"
#include "opencl/data.hpp"

namespace sightline::recognition {
namespace {

using test::Numbers;

// A device's copy of a set, and a search.
class Searcher {
 public:
  Searcher(const opencl::DeviceInfo& device, const TemplateFormat& format, const SearchTuning& tuning)
      : queue_(test::shared_context(device)),
        program_(test::shared_context(device), format, nullptr, tuning),
        templates_(test::shared_context(device)),
        search_(program_, queue_) {}

  Matches nearest(const TemplateSet& set, const std::vector<std::uint8_t>& queries, int k) {
    templates_.update(queue_, set);
    opencl::Buffer buffer;
    opencl::upload(queue_, buffer, queries);
    const opencl::Event done =
        search_.enqueue(templates_, buffer, queries.size() / bytes_per_template(set.format()), k);
    queue_.flush();
    queue_.wait(done);
    Matches matches;
    search_.matches(matches);
    return matches;
  }

 private:
  opencl::Queue queue_;
  SearchProgram program_;
  DeviceTemplates templates_;
  DeviceSearch search_;
};

class OpenClSearch : public test::ExactDevicesTest {
 protected:
  // Sets of all sizes through one copy each: it grows, shrinks and changes.
  void compare(const std::vector<int>& dims, const std::vector<std::size_t>& sizes, int most_queries) {
    Numbers numbers(11);
    for (const opencl::DeviceInfo& device : devices_) {
      for (const Kind kind : kKinds) {
        for (const int d : dims) {
          const TemplateFormat format = some_format(kind, d, numbers);
          Searcher searcher(device, format, default_search_tuning(device));
          TemplateSet set(format);
          for (const std::size_t size : sizes) {
            while (set.size() > size) set.remove(set.size() / 2);
            if (set.size() > 1) set.replace(set.size() / 2, set.bytes(0));
            while (set.size() < size) set.append(some_template(format, numbers));
            const int count = numbers(1, most_queries);
            const std::vector<std::uint8_t> queries = some_templates(format, count, numbers);
            const int k = numbers(1, kMostNearest);
            SCOPED_TRACE(device.name + ": " + std::to_string(count) + " in " + std::to_string(size) + " of " +
                         std::to_string(d) + ", kind " + std::to_string(static_cast<int>(kind)) + ", k " +
                         std::to_string(k));
            EXPECT_EQ(
                first_difference(reference::nearest(set, queries, k), searcher.nearest(set, queries, k)), "");
          }
        }
      }
    }
  }
};

TEST_F(OpenClSearch, AwkwardSizes) {
  compare({3, 130}, {1, 64, 65, 0, 300, 1025, 63, 1100}, 9);
}

TEST_F(OpenClSearch, MoreThanOneSelection) {
  compare({2}, {33 * 1024 + 1}, 2);
}

// Every count of the query against every other; see CPU tests for larger ones.
TEST_F(OpenClSearch, AllPairsOfBytes) {
  const TemplateFormat format{Kind::counts8, 1, {}};
  TemplateSet set(format);
  for (int b = 0; b < 256; ++b) set.append(std::vector<std::uint8_t>{static_cast<std::uint8_t>(b)});
  for (const opencl::DeviceInfo& device : devices_) {
    Searcher searcher(device, format, default_search_tuning(device));
    for (int a = 0; a < 256; a += 8) {
      std::vector<std::uint8_t> queries;
      for (int q = 0; q < 8; ++q) queries.push_back(static_cast<std::uint8_t>(a + q));
      EXPECT_EQ(first_difference(reference::nearest(set, queries, 32), searcher.nearest(set, queries, 32)),
                "");
    }
  }
}

TEST_F(OpenClSearch, EveryForm) {
  Numbers numbers(13);
  for (const opencl::DeviceInfo& device : devices_) {
    for (const auto& [queries, slices] : {std::pair(1, 16), std::pair(2, 3)}) {
      for (const std::string instructions : {"plain", "ptx", "khr"}) {
        SearchTuning tuning{queries, slices, 1 + queries % 2, 128 * queries, "division", "integer"};
        if (instructions == "ptx" ? !device.is_nvidia()
                                  : !device.integer_dot_product && instructions == "khr")
          continue;
        if (instructions != "plain") tuning.dot = instructions;
        if (instructions == "ptx") tuning.quotient = instructions;
        for (const Kind kind : kKinds) {
          SCOPED_TRACE(device.name + ": " + std::to_string(queries) + " queries, " + std::to_string(slices) +
                       " slices, " + instructions + ", kind " + std::to_string(static_cast<int>(kind)));
          const TemplateFormat format = some_format(kind, 37, numbers);
          const TemplateSet set = some_set(format, 100, numbers);
          Searcher searcher(device, format, tuning);
          const std::vector<std::uint8_t> some = some_templates(format, 5, numbers);
          EXPECT_EQ(first_difference(reference::nearest(set, some, 7), searcher.nearest(set, some, 7)), "");
        }
      }
    }
  }
}

class OpenClSmallSearch : public OpenClSearch {};

TEST_F(OpenClSmallSearch, ForASimulator) {
  compare({5}, {1, 70}, 3);
}

}  // namespace
}  // namespace sightline::recognition
