#pragma once
/// Report of a measurement: one model for all outputs, and its renderers as text, HTML, SVG and CSV. Plain
/// data; all text is unescaped, but for `markup`.

#include <concepts>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pipeline/report/chart.hpp"

namespace sightline::report {

/// Outputs that show something: a terminal, a page, or both.
enum class In { text, page, both };

struct Cell {
  Cell() = default;
  Cell(std::string shown) : text(std::move(shown)) {}
  Cell(const char* shown) : text(shown) {}
  Cell(std::integral auto value) : text(std::to_string(value)) {}

  std::string text = {};
  std::string small = {};  ///< beside it, smaller: a spread
  std::string below = {};  ///< page: on a second line, smaller
  std::string hint = {};   ///< page: tooltip
  std::string kind = {};   ///< page: class of the style sheet; at the head of a row: a badge of this class
  std::optional<double> bar = {};    ///< page: length of a bar, of 1
  std::optional<double> tick = {};   ///< page: mark on the bar, of 1
  std::optional<double> shade = {};  ///< page: place in a range of colours, of 1
};

struct Column {
  std::string head = {};  ///< may have several lines; in a text, what is behind a tab heads Cell::small
  In in = In::both;
};

/// Rows of cells, the first of which is the row's head.
struct Table {
  std::vector<Column> columns = {};
  std::vector<std::vector<Cell>> rows = {};
  std::optional<std::size_t> best = {};  ///< page: the row that is marked so
  std::string style = {};                ///< page: class of the style sheet
  std::string caption = {};
  std::string fold = {};  ///< page: the table is folded away under this text
};

/// Text of a column's cells from the things that rows are made of.
template <typename Row>
struct ColumnOf {
  std::string head = {};
  std::function<Cell(const Row&)> cell = {};
  In in = In::both;
};

/// A table with a row for each of `rows`.
template <typename Row>
Table table_of(const auto& rows, const std::vector<ColumnOf<Row>>& columns) {
  Table table;
  for (const ColumnOf<Row>& column : columns) table.columns.push_back({column.head, column.in});
  for (const Row& row : rows) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const ColumnOf<Row>& column : columns) cells.push_back(column.cell(row));
  }
  return table;
}

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// Named values; those that are empty are left out.
struct Facts {
  NamedTexts items;
};
/// Facts that every measurement states about itself.
Facts facts_of(const auto& m) {
  const std::string note = m.meter_note.empty() ? "" : ": " + m.meter_note;
  return {{{"Machine", m.machine},
           {"Program", m.program},
           {"Input", m.input},
           {"Model", m.model},
           {"Energy", (m.meter.empty() ? "no meter" : m.meter) + note}}};
}
struct List {
  std::vector<std::string> items = {};
};
struct Note {
  std::string text = {};
};
/// Parts of a page that are like no other.
struct Raw {
  std::string markup = {};
};

struct Block {
  std::variant<Table, Chart, Facts, List, Note, Raw> what;
  In in = In::both;
};

/// Blocks under a title; left out where there is none.
struct Section {
  std::string title = {};
  std::vector<Block> blocks = {};
  In title_in = In::page;
  std::string style = {};        ///< page: class of the style sheet
  std::string head_markup = {};  ///< page: beside the title
};

/// Sections about one thing.
struct Part {
  std::string title = {};    ///< page; a part without one is for a text only
  std::string subject = {};  ///< line below the title
  std::vector<Section> sections = {};
};

struct Document {
  std::string title = {};
  std::vector<Part> parts = {};
  /// Page: terms, and how to read them.
  NamedTexts guide = {};
  /// Page: JSON for the script, without '<'.
  std::string data = R"({"measurements":[]})";
};

/// Lines as wide as the terminal, or of 100 columns for a file: wide tables are cut into several, long lines
/// are wrapped.
std::string to_text(const Document& document);
/// The same of a table. Its cells but the first of a row are flush right, unless `is_left`.
std::string to_text(const Table& table);
/// A page that needs no other file and no network.
std::string to_html(const Document& document);
/// RFC 4180 with a header, and a row for each object: numbers in the shortest form that reads back as the
/// same number, nothing for what is null or not there.
/// @param columns  keys, or "name=/path/to/it"
std::string to_csv(const std::vector<nlohmann::ordered_json>& rows, const std::vector<std::string>& columns);

/// Words on lines of at most 100 columns; all lines but the first begin with `indent` blanks.
std::string wrapped(const std::string& text, std::size_t indent = 0);

/// Three figures or more: "0.123", "9.87", "148.2", "1482"; "-" where it is not finite.
std::string figures(double value);
/// Seconds as milliseconds, or joules as millijoules, without the unit.
inline std::string thousandths(double value) {
  return figures(value * 1e3);
}
/// A rate, which is 0 where it was not worked out.
inline std::string rate_text(double fps) {
  return fps > 0 ? figures(fps) : "-";
}
/// "93"; "-" where it is not finite.
std::string percents(double share);
/// "93%"; "-" where it is not finite.
std::string whole_percent(double share);

/// Files that pages are put together from: "report_page.html", "report_page.css" or "report_page.js"; throws
/// std::out_of_range for any other name.
std::string_view report_page_file(const std::string& name);

}  // namespace sightline::report
