#pragma once
/// XML reader with positions in errors, for XML models (pugixml). Thread-safety: one thread at a time.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sightline {

/// A document and the lines its elements begin on. Entities of a document type are not expanded and nothing
/// outside the text is read.
class XmlDocument {
 public:
  /// Throws Error (model).
  /// @param name    file name in messages
  /// @param remedy  end of every message: what the user can do
  XmlDocument(std::string_view text, std::string name, std::string remedy);

  pugi::xml_node root() const { return document_; }

  /// Throws Error (model): name, line of the element, reason, remedy.
  [[noreturn]] void refuse(const pugi::xml_node& at, const std::string& reason) const;

  /// The element's only child of that name; refuses where there is none or several.
  pugi::xml_node child(const pugi::xml_node& parent, const char* name) const;

  /// The value of the element's attribute; refuses where there is none or several.
  std::string_view attribute(const pugi::xml_node& element, const char* name) const;

  /// The text of an element that has no other content.
  std::string_view text(const pugi::xml_node& element) const;
  int whole_number(const pugi::xml_node& element, int smallest, int largest) const;
  float number(const pugi::xml_node& element, float largest) const;
  /// The same of an attribute; `real` takes infinite numbers and NaN as well.
  int whole_number(const pugi::xml_node& element, const char* attribute, int smallest, int largest) const;
  double real(const pugi::xml_node& element, const char* attribute) const;

 private:
  [[noreturn]] void refuse_at(std::ptrdiff_t offset, const std::string& reason) const;

  std::string name_;
  std::string remedy_;
  std::vector<std::ptrdiff_t> line_ends_;
  pugi::xml_document document_;
};

/// Text of an XML model's file. Throws Error (model) if it cannot be read.
/// @param kind       kind of file in messages: "cascade"
/// @param max_bytes  larger files are refused
std::string read_xml(const std::filesystem::path& file, const char* kind, std::uint64_t max_bytes);

/// Reads the whitespace-separated numbers of an element's text, or of an attribute, one after the other.
class NumberReader {
 public:
  NumberReader(const XmlDocument& document, const pugi::xml_node& element)
      : document_(document), element_(element), rest_(document.text(element)) {}
  NumberReader(const XmlDocument& document, const pugi::xml_node& element, const char* attribute)
      : document_(document),
        element_(element),
        attribute_(attribute),
        rest_(document.attribute(element, attribute)) {}

  bool at_end();
  /// Each throws if no number is left, or the next one is of another kind or out of range.
  std::int32_t whole_number(std::int32_t smallest, std::int32_t largest);
  /// A double of the file as a float, of magnitude `largest` at most.
  float number(float largest);
  /// Any double: infinite ones and NaN, too.
  double real();
  /// Refuses where there are more.
  void expect_end();

 private:
  std::string_view next();
  double value_of(std::string_view token) const;
  std::string place() const;

  const XmlDocument& document_;
  pugi::xml_node element_;
  const char* attribute_ = nullptr;
  std::string_view rest_;
};

}  // namespace sightline
