// Lists of candidates as the host takes them over; what kernels would append is written from here.
#include "opencl/candidate_list.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace sightline::opencl {
namespace {

struct Record {
  cl_int level, x, y, value;
  friend bool operator==(const Record&, const Record&) = default;
};

const std::vector<WindowGrid> kLevels{{10, 5, 1}, {4, 3, 2}};

class CandidateLists : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<DeviceInfo> devices = list_devices();
    if (devices.empty()) GTEST_SKIP() << "there is no OpenCL device here";
    context_.emplace(ChosenDevice{devices[0], 0, ""});
    queue_.emplace(*context_);
    list_.emplace(4, 2);  // room for four, of which two come with their number
    list_->make(*queue_);
    list_->make_readable(*queue_);
  }

  // What kernels leave that append all of these to a list with its room.
  void append(const std::vector<Record>& records, cl_int made_from = 0) {
    std::vector<Record> all{{static_cast<cl_int>(records.size()), made_from, 0, 0}};
    all.insert(all.end(), records.begin(), records.end());
    all.resize(std::min(all.size(), static_cast<std::size_t>(list_->capacity()) + 1));
    queue_->write_now(list_->buffer(), all.data(), all.size() * sizeof(Record));
  }

  std::vector<Record> take(const std::vector<Record>& again = {}, std::size_t most = 1000) {
    refilled_.clear();
    queue_->wait(list_->read(*queue_));
    list_->finish_read(*queue_, most, [&](std::size_t capacity) {
      refilled_.push_back(capacity);
      list_->make(*queue_, capacity);
      append(again);
    });
    const auto sorted = list_->sorted(*queue_, kLevels);
    return {sorted.begin(), sorted.end()};
  }

  std::string refusal(const std::vector<Record>& records) {
    append(records);
    try {
      take(records);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  std::optional<Context> context_;
  std::optional<Queue> queue_;
  std::optional<CandidateList<Record>> list_;
  std::vector<std::size_t> refilled_;
};

TEST_F(CandidateLists, AreTakenInTheOrderOfLevelsRowsAndColumns) {
  append({{1, 2, 0, 7}, {0, 9, 4, 8}, {0, 3, 4, 9}, {0, 5, 1, 6}});  // more than come at once
  const std::vector<Record> expected{{0, 5, 1, 6}, {0, 3, 4, 9}, {0, 9, 4, 8}, {1, 2, 0, 7}};
  EXPECT_EQ(take(), expected);
  append({});
  EXPECT_EQ(take(), std::vector<Record>{});
  EXPECT_TRUE(refilled_.empty());
}

TEST_F(CandidateLists, ThatAreTooShortAreFilledAgainWithMoreRoom) {
  std::vector<Record> many;
  for (cl_int i = 9; i >= 0; --i) many.push_back({0, i, 2, i});
  append(many);
  const std::vector<Record> found = take(many);
  ASSERT_EQ(found.size(), 10u);
  for (cl_int i = 0; i < 10; ++i) EXPECT_EQ(found[static_cast<std::size_t>(i)], (Record{0, i, 2, i}));
  EXPECT_EQ(refilled_, std::vector<std::size_t>{12});
  append(many);
  EXPECT_EQ(take(many).size(), 10u);
  EXPECT_TRUE(refilled_.empty()) << "there is room now";
}

TEST_F(CandidateLists, AreFilledAgainWhereOneTheyAreMadeFromWasTooShort) {
  append({{0, 0, 0, 1}}, 9);
  EXPECT_EQ(take({{0, 0, 0, 1}, {0, 1, 0, 2}}).size(), 2u);
  EXPECT_EQ(refilled_, std::vector<std::size_t>{11});
}

TEST_F(CandidateLists, OfMoreThanThereCanBeAreNotBelieved) {
  append({{0, 0, 0, 0}, {0, 1, 0, 0}}, 1001);
  EXPECT_THROW(take(), Error);
  EXPECT_TRUE(refilled_.empty());
  append({{0, 0, 0, 0}, {0, 1, 0, 0}}, 1000);
  EXPECT_NO_THROW(take({{0, 0, 0, 0}}));
  EXPECT_EQ(refilled_, std::vector<std::size_t>{1000}) << "no room is made for more than there can be";
}

TEST_F(CandidateLists, WindowsThatDoNotExistAreRefused) {
  EXPECT_EQ(refusal({{0, 9, 4, 0}, {1, 6, 4, 0}}), "");
  for (const Record& wrong :
       {Record{2, 0, 0, 0}, Record{-1, 0, 0, 0}, Record{0, 10, 0, 0}, Record{0, 0, 5, 0}, Record{0, -1, 0, 0},
        Record{0, 0, -1, 0}, Record{1, 1, 0, 0}, Record{1, 0, 3, 0}, Record{1, 8, 0, 0}}) {
    EXPECT_NE(refusal({{0, 0, 0, 0}, wrong}), "") << wrong.level << " " << wrong.x << " " << wrong.y;
  }
}

}  // namespace
}  // namespace sightline::opencl
