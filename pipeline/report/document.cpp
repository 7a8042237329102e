#include "pipeline/report/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/columns.hpp"
#include "base/markup.hpp"
#include "base/text.hpp"

namespace sightline::report {
namespace {

std::vector<std::string> lines_of(const std::string& head) {
  return head.empty() ? std::vector<std::string>{""} : split(head, '\n');
}

std::string flush_right(const std::string& text, std::size_t width) {
  return std::string(width - columns_of(text), ' ') + text;
}

// The head of the cells, and that of what is beside them.
std::pair<std::string, std::string> heads_of(const Column& column) {
  const std::size_t tab = std::min(column.head.find('\t'), column.head.size());
  return {column.head.substr(0, tab), tab < column.head.size() ? column.head.substr(tab + 1) : ""};
}

using Json = nlohmann::ordered_json;

std::string finite_text(double value) {
  return std::isfinite(value) ? shortest(value) : "";
}

// --- text

// A column of a terminal's table: the lines of its head, which end together, then a cell a row.
struct TextColumn {
  std::vector<std::string> lines;
  std::size_t width = 0;

  TextColumn(const std::string& head, const Table& table, std::size_t column, std::string Cell::*member)
      : lines{head} {
    for (const auto& row : table.rows) lines.push_back(column < row.size() ? row[column].*member : "");
    widen();
  }
  void widen() {
    for (const std::string& line : lines) width = std::max(width, columns_of(line));
  }
};

std::vector<TextColumn> text_columns(const Table& table) {
  std::size_t head_lines = 1;
  for (const Column& column : table.columns) {
    if (column.in != In::page) head_lines = std::max(head_lines, lines_of(heads_of(column).first).size());
  }
  std::vector<TextColumn> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].in == In::page) continue;
    const auto [head, beside] = heads_of(table.columns[i]);
    std::vector<std::string> above = lines_of(head);
    TextColumn& column = columns.emplace_back(above.back(), table, i, &Cell::text);
    const auto has_small = [i](const auto& row) { return i < row.size() && !row[i].small.empty(); };
    if (std::ranges::any_of(table.rows, has_small)) {
      const TextColumn small(beside, table, i, &Cell::small);
      for (std::size_t line = 0; line < column.lines.size(); ++line)
        column.lines[line] =
            flush_right(column.lines[line], column.width) + ' ' + flush_right(small.lines[line], small.width);
    }
    above.pop_back();
    above.insert(above.begin(), head_lines - 1 - above.size(), "");
    column.lines.insert(column.lines.begin(), above.begin(), above.end());
    column.widen();
  }
  return columns;
}

std::string text_of(const Facts& facts) {
  std::size_t longest = 0;
  for (const auto& [name, value] : facts.items) {
    if (!value.empty()) longest = std::max(longest, columns_of(name));
  }
  std::string text;
  for (const auto& [name, value] : facts.items) {
    if (value.empty()) continue;
    const std::string head = name + ':' + std::string(longest - columns_of(name) + 1, ' ');
    text += head + wrapped(value, longest + 2) + '\n';
  }
  return text;
}

std::string text_of(const List& list) {
  std::string text;
  for (const std::string& item : list.items) text += "- " + wrapped(item, 2) + '\n';
  return text;
}

std::string text_of(const Note& note) {
  return note.text.empty() ? "" : wrapped(note.text) + '\n';
}
std::string text_of(const Table& table) {
  return to_text(table);
}
std::string text_of(const auto&) {
  return "";
}

std::string text_of(const Section& section) {
  std::string text;
  bool is_after_table = false;
  for (const Block& block : section.blocks) {
    if (block.in == In::page) continue;
    const std::string more = std::visit([](const auto& what) { return text_of(what); }, block.what);
    if (more.empty()) continue;
    const bool is_table = std::holds_alternative<Table>(block.what);
    if (!text.empty() && (is_table || is_after_table)) text += '\n';
    text += more;
    is_after_table = is_table;
  }
  if (text.empty() || section.title_in == In::page || section.title.empty()) return text;
  return wrapped(section.title) + "\n\n" + text;
}

// --- page

std::string cell_of(const Cell& cell, bool is_head) {
  std::string text = escape_markup(cell.text), tag = is_head ? "<th scope=\"row\"" : "<td";
  if (is_head && !cell.kind.empty()) {
    text = fmt::format("<em class=\"{}\">{}</em>", cell.kind, text);
  } else if (!cell.kind.empty()) {
    tag += fmt::format(" class=\"{}\"", cell.kind);
  }
  if (cell.shade) tag += fmt::format(" style=\"--v:{:.2f}\"", *cell.shade);
  if (!cell.hint.empty()) tag += fmt::format(" title=\"{}\"", escape_markup(cell.hint));
  if (!cell.small.empty()) text += "<small>" + escape_markup(cell.small) + "</small>";
  if (!cell.below.empty()) text += "<br><small>" + escape_markup(cell.below) + "</small>";
  if (cell.bar) {
    const auto share = [](double value) { return std::isfinite(value) ? std::clamp(value, 0.0, 1.0) : 0; };
    text += fmt::format("<span class=\"rate\"><i style=\"width:{:.1f}%\"></i>", 100 * share(*cell.bar));
    if (cell.tick) text += fmt::format("<s style=\"left:{:.1f}%\"></s>", 100 * share(*cell.tick));
    text += "</span>";
  }
  return tag + '>' + text + (is_head ? "</th>" : "</td>");
}

std::string markup_of(const Table& table) {
  if (table.rows.empty()) return "";
  std::string text = fmt::format("<div class=\"scroll\"><table class=\"{}\">\n<thead><tr>", table.style);
  for (const Column& column : table.columns) {
    if (column.in == In::text) continue;
    std::vector<std::string> lines = lines_of(heads_of(column).first);
    for (std::string& line : lines) line = escape_markup(line);
    text += fmt::format("<th scope=\"col\">{}</th>", fmt::join(lines, "<br>"));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    text += r == table.best ? "<tr class=\"best\">" : "<tr>";
    for (std::size_t i = 0; i < std::min(table.rows[r].size(), table.columns.size()); ++i)
      if (table.columns[i].in != In::text) text += cell_of(table.rows[r][i], i == 0);
    text += "</tr>\n";
  }
  text += "</tbody></table></div>\n";
  if (!table.caption.empty())
    text =
        fmt::format("<figure><figcaption>{}</figcaption>{}</figure>\n", escape_markup(table.caption), text);
  if (!table.fold.empty())
    text = fmt::format("<details><summary>{}</summary>{}</details>\n", escape_markup(table.fold), text);
  return text;
}

std::string markup_of(const Chart& chart) {
  std::string svg = to_svg({chart});
  if (svg.empty()) return "";
  constexpr std::string_view kNamespace = " xmlns=\"http://www.w3.org/2000/svg\"";  // HTML knows it
  return "<div class=\"scroll\">" + svg.erase(svg.find(kNamespace), kNamespace.size()) + "</div>\n";
}

std::string markup_of(const Facts& facts) {
  std::string text;
  for (const auto& [name, value] : facts.items) {
    if (!value.empty())
      text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(name), escape_markup(value));
  }
  return text.empty() ? "" : "<dl class=\"facts\">\n" + text + "</dl>\n";
}

std::string markup_of(const List& list) {
  std::string text;
  for (const std::string& item : list.items) text += "<li>" + escape_markup(item) + "</li>\n";
  return text.empty() ? "" : "<ul>\n" + text + "</ul>\n";
}

std::string markup_of(const Note& note) {
  return note.text.empty() ? "" : "<p class=\"note\">" + escape_markup(note.text) + "</p>\n";
}

std::string markup_of(const Raw& raw) {
  return raw.markup;
}

std::string markup_of(const Section& section) {
  std::string text;
  for (const Block& block : section.blocks) {
    if (block.in != In::text)
      text += std::visit([](const auto& what) { return markup_of(what); }, block.what);
  }
  if (text.empty() || section.title.empty()) return text;
  return fmt::format("<section class=\"card {}\">\n<div class=\"head\"><h2>{}</h2>{}</div>\n{}</section>\n",
                     section.style, escape_markup(section.title), section.head_markup, text);
}

// Replaces each @name@ of the template.
std::string filled(std::string_view text, const std::map<std::string, std::string_view>& values) {
  std::string result;
  while (!text.empty()) {
    const std::size_t first = text.find('@');
    const std::size_t last = first == text.npos ? first : text.find('@', first + 1);
    if (last == text.npos) break;
    const auto value = values.find(std::string(text.substr(first + 1, last - first - 1)));
    result += text.substr(0, first);
    result += value == values.end() ? text.substr(first, 1) : value->second;
    text.remove_prefix(value == values.end() ? first + 1 : last + 1);
  }
  return result += text;
}

}  // namespace

std::string to_text(const Table& table) {
  if (table.rows.empty()) return "";
  const std::vector<TextColumn> columns = text_columns(table);
  std::string text = table.caption.empty() ? "" : table.caption + "\n";
  const std::size_t most = output_columns();
  std::size_t first = 1;
  do {
    std::size_t last = first, width = columns.front().width;
    while (last < columns.size() && (last == first || width + 2 + columns[last].width <= most))
      width += 2 + columns[last++].width;
    if (first > 1) text += '\n';
    for (std::size_t i = 0; i < columns.front().lines.size(); ++i) {
      const std::string& head = columns.front().lines[i];
      std::string line = head + std::string(columns.front().width - columns_of(head), ' ');
      for (std::size_t c = first; c < last; ++c)
        line += "  " + flush_right(columns[c].lines[i], columns[c].width);
      text += line.erase(line.find_last_not_of(' ') + 1) + '\n';
    }
    first = last;
  } while (first < columns.size());
  return text;
}

std::string to_text(const Document& document) {
  std::string text;
  for (const Part& part : document.parts) {
    std::string sections = part.subject.empty() ? "" : wrapped(part.subject) + '\n';
    for (const Section& section : part.sections) {
      const std::string more = text_of(section);
      if (!more.empty()) sections += (sections.empty() ? "" : "\n") + more;
    }
    if (!sections.empty()) text += (text.empty() ? "" : "\n") + sections;
  }
  return text;
}

std::string to_html(const Document& document) {
  std::string parts, guide;
  for (const Part& part : document.parts) {
    if (part.title.empty()) continue;
    parts += fmt::format("<article class=\"measurement\">\n<h1>{}</h1>\n", escape_markup(part.title));
    if (!part.subject.empty())
      parts += fmt::format("<p class=\"subject\">{}</p>\n", escape_markup(part.subject));
    for (const Section& section : part.sections) parts += markup_of(section);
    parts += "</article>\n";
  }
  for (const auto& [term, meaning] : document.guide)
    guide += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(term), escape_markup(meaning));
  const std::string title = escape_markup(document.title);
  return filled(report_page_file("report_page.html"), {{"title", title},
                                                       {"style", report_page_file("report_page.css")},
                                                       {"sections", parts},
                                                       {"guide", guide},
                                                       {"data", document.data},
                                                       {"script", report_page_file("report_page.js")}});
}

std::string to_csv(const std::vector<Json>& rows, const std::vector<std::string>& columns) {
  std::vector<std::string> fields;
  for (const std::string& column : columns) fields.push_back(csv_field(column.substr(0, column.find("=/"))));
  std::string text = fmt::format("{}\n", fmt::join(fields, ","));
  for (const Json& row : rows) {
    fields.clear();
    for (const std::string& column : columns) {
      const std::size_t path = column.find("=/");
      const Json value = path == column.npos ? row.value(column, Json())
                                             : row.value(Json::json_pointer(column.substr(path + 1)), Json());
      fields.push_back(value.is_string()         ? csv_field(value.get<std::string>())
                       : value.is_number_float() ? finite_text(value.get<double>())
                       : value.is_null()         ? ""
                                                 : value.dump());
    }
    text += fmt::format("{}\n", fmt::join(fields, ","));
  }
  return text;
}

std::string wrapped(const std::string& text, std::size_t indent) {
  return sightline::wrapped(text, output_columns(), indent, indent);
}

std::string figures(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  const int decimals = size >= 999.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 || size == 0 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string percents(double share) {
  return std::isfinite(share) ? fmt::format("{:.0f}", share * 100) : "-";
}

std::string whole_percent(double share) {
  return std::isfinite(share) ? percents(share) + '%' : "-";
}

}  // namespace sightline::report
