#include "texture/record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/texture/texture_plot.hpp"
#include "support/errors.hpp"
#include "support/replaced.hpp"
#include "support/temp_dir.hpp"

namespace sightline::texture {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TextureRecord some_record() {
  TextureRecord record;
  record.picture = "a, \"slide\".tif";
  record.page = 2;
  record.width = 100'000;
  record.height = 90'000;
  record.border = BorderRule::skip;
  record.left_out = 2;
  record.mapping = LbpMapping::rotation_uniform;
  for (const char* channel : {"red", "blue"}) {
    HistogramRecord& one = record.histograms.emplace_back(HistogramRecord{channel, "8,2", {}, {}});
    for (std::uint64_t bin = 0; bin < 10; ++bin) one.bins.push_back(bin << 33);
  }
  record.histograms[1].contrast = ContrastSummary{4.8, 0.1, {0, 1, 2.0625, 3, 4, 5, 255}};
  record.cells = CellsRecord{"cells.npy", 64, 1563, 1407, 20};
  record.damage = {{{512, 1024, 256, 256}, "bad \"tile\""}};
  record.damage_left_out = 3;
  return record;
}

void expect_same(const TextureRecord& a, const TextureRecord& b) {
  EXPECT_EQ(a.picture, b.picture);
  EXPECT_EQ(a.page, b.page);
  EXPECT_EQ(a.width, b.width);
  EXPECT_EQ(a.height, b.height);
  EXPECT_EQ(a.border, b.border);
  EXPECT_EQ(a.left_out, b.left_out);
  EXPECT_EQ(a.mapping, b.mapping);
  EXPECT_EQ(a.histograms, b.histograms);
  EXPECT_EQ(a.cells, b.cells);
  EXPECT_EQ(a.damage_left_out, b.damage_left_out);
  ASSERT_EQ(a.damage.size(), b.damage.size());
  for (std::size_t i = 0; i < a.damage.size(); ++i) {
    EXPECT_EQ(a.damage[i].where, b.damage[i].where);
    EXPECT_EQ(a.damage[i].reason, b.damage[i].reason);
  }
}

TEST(TextureRecord, JsonIsReadBackExactly) {
  TextureRecord plain = some_record();
  plain.cells.reset();
  plain.damage.clear();
  plain.damage_left_out = 0;
  for (const bool shares : {false, true}) {
    const std::string text = to_json({some_record(), plain}, shares);
    const std::vector<TextureRecord> read = parse_records(text, "a.json");
    ASSERT_EQ(read.size(), 2u);
    expect_same(read[0], some_record());
    expect_same(read[1], plain);
    EXPECT_EQ(to_json(read, shares), text);
    EXPECT_EQ(text.find("shares") != std::string::npos, shares);
  }
  EXPECT_EQ(some_record().kind(), "8,2 of red, 8,2 of blue by riu2");
}

TEST(TextureRecord, WhatIsNoRecordIsRefused) {
  const std::string good = to_json({some_record()});
  const auto refuse = [&](const std::string& from, const std::string& to, const std::string& fact) {
    const std::string text = test::replaced(good, from, to);
    test::expect_error(ExitCode::input, fact, [&] { parse_records(text, "mine.json"); });
    test::expect_error(ExitCode::input, "'mine.json'", [&] { parse_records(text, "mine.json"); });
  };
  refuse("{\"textures\"", "{\"texture\"", "'textures'");
  refuse("[0,8589934592", "[-1,8589934592", "'-1'");
  refuse("[0,8589934592", "[0.5,8589934592", "'0.5'");
  refuse("[0,8589934592", "[8589934592", "");
  refuse("\"page\":2", "\"page\":-1.5", "'-1.5'");
  refuse("\"width\":100000", "\"width\":-1", "'-1'");
  refuse("\"left_out\":2", "\"left_out\":4294967296", "'4294967296'");
  refuse("\"riu2\"", "\"riu3\"", "'mapping'");
  refuse("\"skip\"", "\"hop\"", "'border'");
  refuse("\"8,2\"", "\"9,2\"", "9");
  refuse("]}\n", "", "'mine.json'");
  test::expect_error(ExitCode::input, [] { load_records("/nowhere/a.json"); });
}

TEST(TextureRecord, CsvHasARowForEachBin) {
  TextureRecord record = some_record();
  record.histograms.resize(1);
  record.histograms[0].bins = {1, 3};
  EXPECT_EQ(to_csv({record}),
            "picture,channel,operator,bin,count,share\n"
            "\"a, \"\"slide\"\".tif\",red,\"8,2\",0,1,0.25\n"
            "\"a, \"\"slide\"\".tif\",red,\"8,2\",1,3,0.75\n");
}

TEST(TextureRecord, SvgHasAPlotForEachHistogramAndNoRawText) {
  TextureRecord record = some_record();
  record.picture = "<slide> & co.tif";
  const std::string svg = to_svg({record, record});
  EXPECT_THAT(svg, HasSubstr("&lt;slide&gt; &amp; co.tif"));
  EXPECT_THAT(svg, Not(HasSubstr("<slide>")));
  std::size_t captions = 0;
  for (std::size_t at = svg.find("riu2, "); at != std::string::npos; at = svg.find("riu2, ", at + 1))
    ++captions;
  EXPECT_EQ(captions, 4u);
  record.histograms[0].bins.assign(10, 0);  // nothing to be drawn, and nothing to be divided by
  EXPECT_THAT(to_svg({record}), Not(HasSubstr("nan")));
}

TEST(TextureRecord, BarsForATerminal) {
  EXPECT_EQ(bar_text({0, 1, 4, 8}, 10), " ▁▄█");
  EXPECT_EQ(bar_text({0, 1, 4, 8, 1}, 3), "▁█▁");
  EXPECT_EQ(bar_text({0, 0}, 10), "  ");
  EXPECT_EQ(bar_text({}, 10), "");
}

}  // namespace
}  // namespace sightline::texture
