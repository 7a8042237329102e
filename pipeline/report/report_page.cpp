#include "pipeline/report/report_page.hpp"

#include "base/markup.hpp"
#include "pipeline/report/document.hpp"

namespace sightline::pipeline {

std::string report_card(const std::string& title, const std::string& content) {
  if (content.empty()) return "";
  return "<section class=\"card\"><h2>" + escape_markup(title) + "</h2><div class=\"scroll\">" + content +
         "</div></section>\n";
}

std::string report_page(const std::string& title, const std::string& sections, const std::string& guide) {
  std::string page = report::to_html({.title = title});
  page.insert(page.rfind("</dl>"), guide);
  return page.insert(page.find("<footer>"), sections);
}

}  // namespace sightline::pipeline
