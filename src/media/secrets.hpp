#pragma once
/// Passwords of inputs: their sources, and their removal from all output.

#include <optional>
#include <string>
#include <string_view>

namespace sightline::media {

inline constexpr std::string_view kMask = "***";  ///< replacement of a secret

/// A URL without its secrets: all parts not known to be harmless become `***`. It keeps the host, path parts
/// that are words or short numbers (for RTMP only the first, since the next is the stream's key), and
/// settings such as `channel=1` or `width=640`. It hides user and password, values of other settings, and
/// fragments. `rtsp://admin:1234@camera/a?channel=1&x=y` becomes `rtsp://***@camera/a?channel=1&x=***`.
/// Idempotent. `file://` and names are returned as they are, but for URLs with a misspelt `://` before a
/// user.
std::string redacted_url(std::string_view url);

/// The text with all URLs in it redacted. Each ends at a space.
std::string redacted(std::string_view text);

struct Credentials {
  std::string user;
  std::string password;
};

/// The entry of a host in a file in netrc format (`machine HOST login USER password PASSWORD`, or `default
/// ...`), as curl and ftp read it. The first entry that fits counts.
/// @throws Error (usage) if the file cannot be read, is larger than 1 MiB, or others than its owner may
/// read it
std::optional<Credentials> find_credentials(const std::string& netrc_file, std::string_view host);

}  // namespace sightline::media
