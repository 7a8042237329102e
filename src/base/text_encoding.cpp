#include "base/text_encoding.hpp"

namespace sightline {

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

void refuse_wide_text(std::string_view text, const std::filesystem::path& file, ExitCode code) {
  // Such marks are not valid UTF-8; those of UTF-32 hold those of UTF-16 or begin with zeros.
  constexpr std::string_view kBigEndian32("\0\0\xFE\xFF", 4);
  if (!text.starts_with("\xFF\xFE") && !text.starts_with("\xFE\xFF") && !text.starts_with(kBigEndian32))
    return;
  throw Error(code, "'" + file.string() + "' is UTF-16 or UTF-32 text, and only UTF-8 is read",
              "save it as UTF-8")
      .about(file.string());
}

}  // namespace sightline
