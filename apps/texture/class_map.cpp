#include "apps/texture/class_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/atomic_file.hpp"
#include "base/columns.hpp"
#include "base/error.hpp"
#include "base/json_text.hpp"
#include "base/text.hpp"

namespace sightline::apps {
namespace {

using Json = nlohmann::ordered_json;
using texture::CellClass;

constexpr char kUnknownText[] = "unknown";

// A file that has its name once it is whole, or standard output.
class TableFile {
 public:
  explicit TableFile(const std::string& name) : name_(name) {
    if (name != "-") file_.emplace(name);
  }
  void write(const std::string& text) {
    if (!file_) {
      std::fputs(text.c_str(), stdout);
    } else {
      check(file_->write(text));
    }
  }
  void finish() {
    if (file_) check(file_->finish());
  }

 private:
  void check(std::error_code error) const {
    if (error)
      throw Error(ExitCode::failed, "cannot write '" + name_ + "': " + error.message(),
                  "it must be a file, on a disk that has room for it");
  }

  std::string name_;
  std::optional<AtomicFile> file_;
};

std::string hex_of(const Color& colour) {
  const auto byte = [](double value) { return static_cast<int>(std::lround(255 * value)); };
  return fmt::format("#{:02x}{:02x}{:02x}", byte(colour.red), byte(colour.green), byte(colour.blue));
}

// With the digits of a float, not of the double that it becomes.
Json float_json(float value) {
  return Json::parse(fmt::format("{}", value));
}

// The classes and what is unknown, without the cells.
Json summary_json(const ClassMap& map) {
  const std::vector<ClassShare> shares = class_shares(map);
  Json classes = Json::array();
  for (std::size_t i = 0; i < map.classes.size(); ++i) {
    classes.push_back({{"name", map.classes[i].name},
                       {"colour", hex_of(class_colour(static_cast<int>(i)))},
                       {"known_cells", map.classes[i].known_cells},
                       {"limit", float_json(map.classes[i].limit)},
                       {"cells", shares[i].cells},
                       {"share", shares[i].share},
                       {"median_distance", float_json(shares[i].median)}});
  }
  return {{"picture", map.picture},
          {"width", map.width},
          {"height", map.height},
          {"left_out", map.left_out},
          {"cell", map.cell},
          {"columns", map.columns},
          {"rows", map.rows},
          {"histograms", map.histograms},
          {"distance", map.distance},
          {"classes", std::move(classes)},
          {"unknown",
           {{"colour", hex_of(class_colour(ClassMap::kUnknown))},
            {"cells", shares.back().cells},
            {"share", shares.back().share}}}};
}

void write_rows(TableFile& file, const ClassMap& map, const char* name,
                const std::function<std::string(std::size_t)>& text_of) {
  file.write(fmt::format(",\n \"{}\": [", name));
  for (std::int64_t row = 0; row < map.rows; ++row) {
    std::string line = row == 0 ? "\n  [" : ",\n  [";
    for (std::int64_t column = 0; column < map.columns; ++column)
      line += (column == 0 ? "" : ",") + text_of(static_cast<std::size_t>(row * map.columns + column));
    file.write(line + "]");
  }
  file.write("]");
}

}  // namespace

std::vector<ClassShare> class_shares(const ClassMap& map) {
  std::vector<std::vector<float>> distances(map.classes.size() + 1);
  for (std::size_t i = 0; i < map.cells.size(); ++i) {
    const int label = map.labels[i];
    distances[label == ClassMap::kUnknown ? map.classes.size() : static_cast<std::size_t>(label)].push_back(
        map.cells[i].distance);
  }
  std::vector<ClassShare> shares;
  for (std::vector<float>& one : distances) {
    ClassShare& share = shares.emplace_back();
    if (one.empty()) continue;
    share.cells = static_cast<std::int64_t>(one.size());
    share.share = static_cast<double>(one.size()) / static_cast<double>(map.cells.size());
    const auto middle = one.begin() + static_cast<std::ptrdiff_t>(one.size() / 2);
    std::nth_element(one.begin(), middle, one.end());
    share.median = *middle;
  }
  return shares;
}

std::string to_text(const ClassMap& map) {
  const std::vector<ClassShare> shares = class_shares(map);
  std::size_t width = columns_of(kUnknownText);
  for (const MappedClass& one : map.classes) width = std::max(width, columns_of(one.name));
  const auto padded = [&](const std::string& name) {
    return name + std::string(width - columns_of(name), ' ');
  };
  std::string text = fmt::format(
      "{}: {}x{} cells of {}x{} pixels; {}, {}\n  {}   share      cells    limit   median\n", map.picture,
      map.columns, map.rows, map.cell, map.cell, map.distance, map.histograms, padded("class"));
  const auto add = [&](const std::string& name, const ClassShare& one, const std::string& limit) {
    text += fmt::format("  {} {:>7} {:>10} {:>8} {:>8}\n", padded(name), percent(one.share),
                        grouped(static_cast<std::uint64_t>(one.cells)), limit,
                        one.cells > 0 ? fmt::format("{:.4f}", one.median) : "");
  };
  for (std::size_t i = 0; i < map.classes.size(); ++i)
    add(map.classes[i].name, shares[i], fmt::format("{:.4f}", map.classes[i].limit));
  add(kUnknownText, shares.back(), "");
  return text;
}

void write_class_csv(const std::string& file, const ClassMap& map) {
  TableFile table(file);
  table.write("column,row,x,y,class,distance,nearest,second,second_distance\n");
  std::vector<std::string> names;
  for (const MappedClass& one : map.classes) names.push_back(csv_field(one.name));
  for (std::int64_t row = 0; row < map.rows; ++row) {
    std::string lines;
    for (std::int64_t column = 0; column < map.columns; ++column) {
      const auto i = static_cast<std::size_t>(row * map.columns + column);
      const CellClass& cell = map.cells[i];
      const std::string& nearest = names[static_cast<std::size_t>(cell.nearest)];
      lines += fmt::format("{},{},{},{},{},{},{},{},{}\n", column, row, map.left_out + column * map.cell,
                           map.left_out + row * map.cell,
                           map.labels[i] == ClassMap::kUnknown ? kUnknownText : nearest, cell.distance,
                           nearest, names[static_cast<std::size_t>(cell.second)], cell.second_distance);
    }
    table.write(lines);
  }
  table.finish();
}

void write_class_json(const std::string& file, const ClassMap& map) {
  TableFile table(file);
  std::string head = json_text(summary_json(map), 1);
  head.resize(head.size() - 2);  // without "\n}"
  table.write(head);
  const auto cell = [&](std::size_t i) -> const CellClass& { return map.cells[i]; };
  write_rows(table, map, "class", [&](std::size_t i) { return std::to_string(map.labels[i]); });
  write_rows(table, map, "distances", [&](std::size_t i) { return fmt::format("{}", cell(i).distance); });
  write_rows(table, map, "nearest", [&](std::size_t i) { return std::to_string(cell(i).nearest); });
  write_rows(table, map, "second", [&](std::size_t i) { return std::to_string(cell(i).second); });
  write_rows(table, map, "second_distances",
             [&](std::size_t i) { return fmt::format("{}", cell(i).second_distance); });
  table.write("\n}\n");
  table.finish();
}

}  // namespace sightline::apps
