#include "media/secrets.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace sightline::media {
namespace {

constexpr std::string_view kSeparator = "://";

bool is_latin(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

std::string percent_decoded(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    unsigned value = 0;
    const bool is_code = text.size() >= 3 && text[0] == '%' &&
                         std::from_chars(text.data() + 1, text.data() + 3, value, 16).ptr == text.data() + 3;
    result += is_code ? static_cast<char>(value) : text[0];
    text.remove_prefix(is_code ? 3 : 1);
  }
  return result;
}

/// True for the replacement of a secret, including numbered ones for several inputs (hide_secrets).
bool is_mask(std::string_view text) {
  if (!text.starts_with(kMask) || text.size() > kMask.size() + 2) return false;
  return std::ranges::all_of(text.substr(kMask.size()), is_decimal);
}

/// Whether a part of a path, or a value, looks like words and short numbers (`Channels`, `h264Preview_01`,
/// `2024-01-31.mp4`) rather than like a key. Letters and digits alternate more often in keys.
bool is_plain(std::string_view encoded) {
  constexpr std::size_t kLongestText = 40;
  constexpr std::size_t kLongestWord = 16;
  constexpr std::size_t kLongestNumber = 8;
  constexpr int kMostRuns = 8;
  constexpr int kMostRunsOfWord = 4;
  const std::string text = percent_decoded(encoded);
  if (text.size() > kLongestText) return false;
  int runs = 0;
  int runs_of_word = 0;
  std::size_t word = 0;
  std::size_t number = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::string_view("._- ").find(text[i]) != std::string_view::npos) {
      word = number = 0;
      runs_of_word = 0;
      continue;
    }
    if (!is_latin(text[i]) && !is_decimal(text[i])) return false;
    if (word == 0 || is_decimal(text[i]) != is_decimal(text[i - 1])) ++runs, ++runs_of_word;
    number = is_decimal(text[i]) ? number + 1 : 0;
    if (++word > kLongestWord || number > kLongestNumber || runs_of_word > kMostRunsOfWord) return false;
  }
  return runs <= kMostRuns;
}

/// `camera`, `camera:554`, `192.168.1.9`, `[fe80::1]:80`.
bool is_host(std::string_view text) {
  std::size_t end = text.find_last_of(":]");
  if (end != std::string_view::npos && text[end] == ':') {
    const std::string_view port = text.substr(end + 1);
    if (port.size() > 5 || !std::ranges::all_of(port, is_decimal)) return false;
    text = text.substr(0, end);
  }
  if (text.starts_with('[') && text.ends_with(']'))
    return text.find_first_not_of("0123456789abcdefABCDEF:.", 1) == text.size() - 1;
  return std::ranges::all_of(
      text, [](char c) { return is_latin(c) || is_decimal(c) || c == '.' || c == '-' || c == '_'; });
}

/// Whether a part of a path says that the next one is a secret: `token`, `api-key`.
bool announces_secret(std::string_view encoded) {
  const std::string part = lower_case(percent_decoded(encoded));
  return is_plain(encoded) &&
         std::ranges::any_of(
             std::array{"key", "token", "secret", "auth", "pass", "pwd", "sig", "session", "login", "user"},
             [&](const char* word) { return part.find(word) != std::string::npos; });
}

/// A number, a size, or a word that settings have: words of other kinds may be passwords.
bool is_plain_value(std::string_view text) {
  constexpr std::array kPlain{"auto",      "caller",   "false", "h264", "h265",    "hevc",
                              "high",      "listener", "live",  "low",  "main",    "mjpeg",
                              "multicast", "no",       "off",   "on",   "rtp",     "rendezvous",
                              "sub",       "tcp",      "true",  "udp",  "unicast", "yes"};
  return text.find_first_not_of("0123456789.x") == text.npos ||
         std::ranges::find(kPlain, lower_case(std::string(text))) != kPlain.end();
}

bool is_plain_key(std::string_view encoded) {
  constexpr std::array kPlain{"bitrate",    "buffer_size", "cam",        "camera",      "ch",
                              "chn",        "channel",     "codec",      "compression", "fifo_size",
                              "format",     "fps",         "framerate",  "height",      "latency",
                              "listen",     "localport",   "maxbw",      "mode",        "overrun_nonfatal",
                              "pkt_size",   "profile",     "proto",      "quality",     "rate",
                              "resolution", "reuse",       "size",       "stream",      "streamtype",
                              "subtype",    "tcp",         "timeout",    "transport",   "ttl",
                              "udp",        "unicast",     "videocodec", "width"};
  return std::ranges::find(kPlain, lower_case(percent_decoded(encoded))) != kPlain.end();
}

/// One `key=value` of a query.
std::string masked_setting(std::string_view text) {
  constexpr std::size_t kLongestValue = 12;
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view value = text.substr(std::min(equals + 1, text.size()));
  const bool is_value_plain = value.size() <= kLongestValue && is_plain_value(value);
  if (text.empty() || is_mask(text)) return std::string(text);
  if (is_plain_key(text.substr(0, equals)) && is_value_plain) return std::string(text);
  // A key that is no word may be the secret itself.
  const std::string_view key = text.substr(0, equals);
  if (equals == text.size() || !is_plain(key)) return std::string(kMask);
  return std::string(key) + '=' + std::string(is_mask(value) ? value : kMask);
}

/// Calls `mask` for the parts of a text between separators.
template <typename Mask>
std::string mask_parts(std::string_view text, std::string_view separators, const Mask& mask) {
  std::string result;
  for (;;) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    result += mask(text.substr(0, end));
    if (end == text.size()) return result;
    result += text[end];
    text.remove_prefix(end + 1);
  }
}

std::string masked_path(std::string_view path, bool has_stream_key) {
  int parts = 0;
  bool is_announced = false;
  return mask_parts(path, "/", [&](std::string_view part) {
    // The first is empty, then the app's.
    const bool is_key = ((has_stream_key && ++parts > 2) || is_announced) && !part.empty();
    is_announced = announces_secret(part);
    return std::string(is_mask(part) || (!is_key && is_plain(part)) ? part : kMask);
  });
}

/// Takes user, password and host off the front of what is behind `://`, and returns them masked. The
/// password may have raw '/', '?', '#' and '@' in it: where it ends is then not known, and no host is shown.
std::string take_authority(std::string_view& rest) {
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::size_t mark = std::min(rest.find_first_of("?#"), rest.size());
  const bool begins_with_host = is_host(rest.substr(0, std::min(slash, mark)));
  const std::size_t path_end =
      begins_with_host ? mark : std::min(rest.find_first_of("?#", slash), rest.size());
  const std::size_t at = rest.substr(0, path_end).rfind('@');
  if (!begins_with_host && at == std::string_view::npos) {
    const std::string_view all = std::exchange(rest, {});
    return std::string(is_mask(all) ? all : kMask);
  }
  std::string result;
  bool is_clear = true;
  if (at != std::string_view::npos) {
    const std::string_view user = rest.substr(0, at);
    result = std::string(is_mask(user) ? user : kMask) + '@';
    is_clear = at < slash && at < mark;
    rest.remove_prefix(at + 1);
  }
  const std::size_t end = std::min(rest.find_first_of("/?#"), rest.size());
  const std::string_view host = rest.substr(0, end);
  rest.remove_prefix(end);
  return result.append(is_mask(host) || (is_clear && is_host(host)) ? host : kMask);
}

/// The part of a URL behind `://`.
std::string masked(std::string_view scheme, std::string_view rest) {
  std::string result = take_authority(rest);
  const std::size_t path_end = std::min(rest.find_first_of("?#"), rest.size());
  result += masked_path(rest.substr(0, path_end), scheme.starts_with("rtmp"));
  rest.remove_prefix(path_end);
  if (rest.starts_with('?')) {
    const std::size_t end = std::min(rest.find('#'), rest.size());
    result += '?' + mask_parts(rest.substr(1, end - 1), "&;?", masked_setting);
    rest.remove_prefix(end);
  }
  if (rest.size() > 1) result += '#' + std::string(is_mask(rest.substr(1)) ? rest.substr(1) : kMask);
  return result;
}

/// Masks what stands before an `@` in URLs whose `://` is not written rightly: `http:/user:password@host`.
std::string without_misspelt(std::string_view text) {
  constexpr std::array kSchemes{"http", "https", "rtsp", "rtsps", "rtmp", "rtmps", "srt", "ftp", "sftp"};
  std::string result(text);
  for (std::size_t at = 0; (at = result.find_first_of(":/", at)) != std::string::npos;) {
    const std::size_t begin = result.find_first_not_of(":/", at);
    if (begin == std::string::npos) break;
    std::size_t word = at;
    while (word > 0 && is_latin(result[word - 1])) --word;
    const std::size_t end = std::min(result.find_first_of(" \t\r\n", begin), result.size());
    const std::size_t mark = result.rfind('@', end);
    if (std::ranges::find(kSchemes, lower_case(result.substr(word, at - word))) != kSchemes.end() &&
        std::string_view(result).substr(at, begin - at) != kSeparator && mark != std::string::npos &&
        mark > begin && mark < end && !is_mask(std::string_view(result).substr(begin, mark - begin))) {
      result.replace(begin, mark - begin, kMask);
    }
    at = begin;
  }
  return result;
}

/// The letters before `://`, in lower case.
std::string scheme_before(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && (is_latin(text[begin - 1]) || is_decimal(text[begin - 1]) || text[begin - 1] == '+'))
    --begin;
  return lower_case(std::string(text.substr(begin)));
}

/// End of the URL in a text whose authority begins at `begin`: a space outside the password.
std::size_t end_of_url(std::string_view text, std::size_t begin) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t space = std::min(text.find_first_of(kSpace, begin), text.size());
  const std::string_view first = text.substr(begin, space - begin);
  const std::string_view authority = first.substr(0, first.find_first_of("/?#'\""));
  if (authority.empty() || is_host(authority) || first.find('@') != std::string_view::npos) return space;
  const std::size_t at = text.find('@', space);
  return at == std::string_view::npos ? space : std::min(text.find_first_of(kSpace, at), text.size());
}

}  // namespace

std::string redacted_url(std::string_view url) {
  const std::size_t at = url.find(kSeparator);
  if (at == std::string_view::npos) return without_misspelt(url);
  const std::string scheme = scheme_before(url.substr(0, at));
  if (scheme == "file") return std::string(url);
  const std::size_t rest = at + kSeparator.size();
  return std::string(url.substr(0, rest)) + masked(scheme, url.substr(rest));
}

std::string redacted(std::string_view text) {
  std::string result;
  for (;;) {
    const std::size_t at = text.find(kSeparator);
    if (at == std::string_view::npos) return without_misspelt(result.append(text));
    // A password may have quotes and brackets in it, so only space ends a URL; what closes a quotation is
    // no part of it.
    const std::size_t space = end_of_url(text, at + kSeparator.size());
    std::size_t end = space;
    while (end > at + kSeparator.size() &&
           std::string_view("'\"<>()[]{},;:.!").find(text[end - 1]) != std::string_view::npos)
      --end;
    result += redacted_url(text.substr(0, end));
    text.remove_prefix(end);
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
