// Reports: one description for text, pages, plots and CSV.
#include "pipeline/report/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/columns.hpp"
#include "pipeline/report/chart.hpp"

namespace sightline::report {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

struct Fruit {
  std::string name;
  int count = 0;
  double spread = 0;
};

Table fruits() {
  const std::vector<Fruit> all{{"äpple", 5, 0.5}, {"<fig>", 1200, 0}};
  Table table = table_of<Fruit>(all, {{"fruit", &Fruit::name},
                                      {"count\t±",
                                       [](auto& fruit) {
                                         Cell cell(fruit.count);
                                         if (fruit.spread > 0) cell.small = figures(fruit.spread);
                                         cell.bar = fruit.count / 1200.0;
                                         return cell;
                                       }},
                                      {"in a\npage", [](auto&) { return "p"; }, In::page},
                                      {"in a\ntext", [](auto&) { return "t"; }, In::text}});
  table.best = 1;
  return table;
}

TEST(ReportDocument, ATableIsDescribedOnceForTextAndPage) {
  EXPECT_EQ(to_text(fruits()),
            "                    in a\n"
            "fruit  count     ±  text\n"
            "äpple      5 0.500     t\n"
            "<fig>   1200           t\n");
  const std::string page =
      to_html({"Fruits & more", {{"Part", "subject", {{"All", {{fruits()}}}, {"Empty", {}}}}}, {}});
  EXPECT_THAT(page, HasSubstr("<title>Fruits &amp; more</title>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"col\">in a<br>page</th>"));
  EXPECT_THAT(page, Not(HasSubstr("in a<br>text")));
  EXPECT_THAT(page, HasSubstr("<td>5<small>0.500</small><span class=\"rate\"><i style=\"width:0.4%\">"));
  EXPECT_THAT(page, HasSubstr("<tr class=\"best\"><th scope=\"row\">&lt;fig&gt;</th>"));
  EXPECT_THAT(page, Not(HasSubstr("Empty")));
}

TEST(ReportDocument, TextFitsATerminal) {
  Table table{.columns = {{"row"}}, .rows = {{"a"}, {"b"}}};
  for (int i = 0; i < 30; ++i) {
    table.columns.push_back({"column"});
    for (auto& row : table.rows) row.emplace_back(i);
  }
  const std::string note = "A note that goes on and on " + std::string(90, 'x') + " and has another word.";
  const std::string text = to_text(Document{"", {{"", "", {{"", {{table}, {Note{note}}}}}}}, {}});
  std::istringstream stream(text);
  std::size_t heads = 0;
  for (std::string line; std::getline(stream, line);) {
    EXPECT_LE(columns_of(line), 100u) << line;
    heads += line.starts_with("row ");
  }
  EXPECT_EQ(heads, 3u);
}

TEST(ReportDocument, CsvHasNumbersThatReadBackAndNothingForNothing) {
  const std::vector<Json> rows{
      {{"name", "a, \"b\""}, {"times", {{"ms", 0.1}}}, {"count", -3}, {"rate", 1e-5}},
      {{"name", "=1"}, {"times", nullptr}, {"rate", NAN}}};
  EXPECT_EQ(to_csv(rows, {"name", "ms=/times/ms", "count", "rate"}),
            "name,ms,count,rate\n\"a, \"\"b\"\"\",0.1,-3,1e-05\n'=1,,,\n");
}

TEST(ReportChart, HasAPathForEachLineAndNamesThem) {
  Chart chart{.label = "made <up>"};
  EXPECT_EQ(to_svg({chart}), "");
  chart.x = {.is_logarithmic = true, .is_marked_by_points = true};
  chart.y.is_logarithmic = true;
  chart.lines = {{"one & two", {{1, 10}, {10, 0}, {100, 1000}}}, {"b", {{1, 20, 15, 30}}}};
  const std::string svg = to_svg({chart});
  EXPECT_THAT(svg, HasSubstr("made &lt;up&gt;"));
  EXPECT_THAT(svg, HasSubstr(">one &amp; two<"));
  EXPECT_THAT(svg, HasSubstr(">1000<"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  std::size_t dots = 0;
  for (std::size_t at = svg.find("<circle"); at != svg.npos; at = svg.find("<circle", at + 1)) ++dots;
  EXPECT_EQ(dots, 3u) << "0 is nowhere on a logarithmic axis";
}

TEST(ReportChart, BarsSayTheirWholeOrWhyThereIsNone) {
  Chart map{.label = "map"};
  map.x.names = {"4", "8"}, map.y.names = {"1", "2"};
  map.cells = {{{1, "*"}, {10, ""}}, {{100, ""}, {5, "o"}}};
  const std::string cells = to_svg({map});
  for (const char* part : {">1.00*</text>", ">5.00o</text>", "fill=\"#7ac4b8\"><title>4, 1: 1.00*<",
                           "fill=\"#f5eccd\"><title>8, 1: 10.0<", "fill=\"#e08e6f\"><title>4, 2: 100.0<"})
    EXPECT_THAT(cells, HasSubstr(part));

  Chart chart{.label = "bars"};
  chart.bars = {{"first", {{2, "#111111", "work"}, {0.5, "#222222", "idle"}}, 0.1},
                {"second", {}, 0, "not seen"}};
  const std::string svg = to_svg({chart});
  for (const char* words : {">first<", ">second<", ">2.50<", ">not seen<", ">work<", ">idle<"})
    EXPECT_THAT(svg, HasSubstr(words));
}

}  // namespace
}  // namespace sightline::report
