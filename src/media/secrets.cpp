#include "media/secrets.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include "base/error.hpp"

namespace sightline::media {
namespace {

constexpr std::string_view kMask = "***";

bool names_secret(std::string key) {
  std::ranges::transform(key, key.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::any_of(std::array{"token", "pass", "pwd", "key", "secret", "sig", "auth", "credential"},
                             [&](const char* word) { return key.find(word) != std::string::npos; });
}

bool is_key_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
}

// The part of a URL behind `://`.
std::string masked(std::string_view rest) {
  std::string text;
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  // A password with a raw '#' or '?' is no valid URL, but must not be shown either: the authority ends at
  // '/'.
  if (const std::size_t at = rest.substr(0, slash).rfind('@'); at != std::string_view::npos) {
    text = kMask;
    rest.remove_prefix(at);
  }
  while (!rest.empty()) {
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos) break;
    std::size_t begin = equals;
    while (begin > 0 && is_key_character(rest[begin - 1])) --begin;
    text += rest.substr(0, equals + 1);
    const bool is_secret = names_secret(std::string(rest.substr(begin, equals - begin)));
    rest.remove_prefix(equals + 1);
    if (!is_secret) continue;
    text += kMask;
    rest.remove_prefix(std::min(rest.find_first_of("&;#"), rest.size()));
  }
  return text.append(rest);
}

}  // namespace

std::string redacted(std::string_view text) {
  constexpr std::string_view kSeparator = "://";
  std::string result;
  for (;;) {
    const std::size_t at = text.find(kSeparator);
    if (at == std::string_view::npos) return result.append(text);
    result += text.substr(0, at + kSeparator.size());
    text.remove_prefix(at + kSeparator.size());
    const std::size_t end = std::min(text.find_first_of(" \t\r\n'\"<>"), text.size());
    // A URL within a URL (`http://proxy/rtsp://user:pass@host`) is masked with the rest of its own.
    const std::size_t nested = std::min(text.substr(0, end).find(kSeparator), end);
    result += masked(text.substr(0, nested));
    text.remove_prefix(nested);
  }
}

std::optional<Credentials> find_credentials(const std::string& netrc_file, std::string_view host) {
  const auto refuse = [&](const std::string& problem, std::string_view remedy) {
    throw Error(ExitCode::usage, "cannot use the credentials file '" + netrc_file + "': " + problem, remedy);
  };
  constexpr std::size_t kLargest = 1 << 20;
  const int file = ::open(netrc_file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) refuse("it cannot be opened", "check the name and the permissions");
  struct stat facts {};
  std::string text;
  if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode)) {
    char part[4096];
    for (ssize_t count = 0; text.size() <= kLargest && (count = ::read(file, part, sizeof part)) > 0;)
      text.append(part, static_cast<std::size_t>(count));
  }
  ::close(file);
  if (!S_ISREG(facts.st_mode)) refuse("it is not a regular file", "");
  if (facts.st_mode & (S_IRWXG | S_IRWXO)) refuse("other users may read it", "run: chmod 600 FILE");
  if (text.size() > kLargest) refuse("it is larger than 1 MiB", "");

  std::istringstream words(text);
  bool fits = false;
  Credentials found;
  for (std::string word, value; words >> word;) {
    if (word.starts_with('#')) {
      std::getline(words, value);
    } else if (word == "machine" || word == "default") {
      if (fits) break;
      fits = word == "default" || (words >> value && value == host);
    } else if (word == "login" && words >> value) {
      if (fits) found.user = value;
    } else if (word == "password" && words >> value) {
      if (fits) found.password = value;
    }
  }
  if (!fits) return std::nullopt;
  return found;
}

}  // namespace sightline::media
