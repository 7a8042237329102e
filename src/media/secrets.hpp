#pragma once
/// Passwords of inputs: where they come from, and how they are kept out of all output.

#include <optional>
#include <string>
#include <string_view>

namespace sightline::media {

/// The text with the secrets of all URLs in it replaced by `***`: what stands before an `@` in the authority,
/// and the values of keys that contain token, pass, pwd, key, secret, sig, auth or credential.
/// `rtsp://admin:1234@camera/a?token=x` becomes `rtsp://***@camera/a?token=***`.
std::string redacted(std::string_view text);

struct Credentials {
  std::string user;
  std::string password;
};

/// The entry of a host in a file in netrc format (`machine HOST login USER password PASSWORD`, or `default
/// ...`), as curl and ftp read it. The first entry that fits counts.
/// @throws Error (usage) where the file cannot be read, is larger than 1 MiB, or others than its owner may
/// read it
std::optional<Credentials> find_credentials(const std::string& netrc_file, std::string_view host);

}  // namespace sightline::media
