#include "apps/cli/html_table.hpp"

#include "base/markup.hpp"

namespace sightline::apps {

std::string html_table(const std::vector<std::string>& heads,
                       const std::vector<std::vector<std::string>>& rows) {
  std::string text = "<table><thead><tr>";
  for (const std::string& head : heads) text += "<th>" + escape_markup(head) + "</th>";
  text += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      text += (i == 0 ? "<th>" : "<td>") + escape_markup(row[i]) + (i == 0 ? "</th>" : "</td>");
    text += "</tr>\n";
  }
  return text + "</tbody></table>\n";
}

}  // namespace sightline::apps
