#pragma once
/// Internal to src/media: the bytes of an input, read by Sightline rather than by FFmpeg, so that each wait
/// can be interrupted and no redirect is followed unseen.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "media/secrets.hpp"

namespace sightline::media {

/// Thread-safety: one thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Waits for data, and writes at most `size` bytes.
  /// @return their number, or FFmpeg's code; AVERROR_EXIT when interrupted
  virtual int read(std::uint8_t* buffer, int size) = 0;
  /// Like FFmpeg's callback `seek`, with AVSEEK_SIZE. @return the position, or FFmpeg's code
  virtual std::int64_t seek(std::int64_t offset, int whence) = 0;
  virtual bool is_seekable() const = 0;
};

/// Whether to stop waiting; asked every 50 ms or more often.
using Interrupted = std::function<bool()>;

/// A file. A FIFO may lack a writer: then reading waits for one. @return null and `code` where it cannot be
/// opened
std::unique_ptr<ByteSource> open_file(const std::string& path, Interrupted interrupted, int& code);
std::unique_ptr<ByteSource> open_standard_input(Interrupted interrupted);
/// Bytes in memory.
std::unique_ptr<ByteSource> open_content(std::vector<std::uint8_t> content);

/// Origin of all requests of one input: the user's host and the connection to it.
struct HttpOrigin {
  std::string host;
  std::string server;                      ///< see server_of
  std::optional<Credentials> credentials;  ///< credentials for this server only
  bool is_loopback = false;  ///< the first connection went to an address of this machine or link
  bool connected = false;
};

/// Requests an HTTP or HTTPS URL of the origin's host. Redirects stay on that host, and do not turn from
/// HTTPS to HTTP. Once the host was reached at a public or private address, loopback and link-local addresses
/// are refused. Certificates are checked, against $SSL_CERT_FILE where it is set.
/// @param problem  reason of the failure
/// @return null and FFmpeg's `code` if there is no answer with content
std::unique_ptr<ByteSource> open_http(const std::string& url, std::shared_ptr<HttpOrigin> origin,
                                      Interrupted interrupted, int& code, std::string& problem);

/// The host of a URL in lower case; empty if it has none or is no URL.
std::string host_of(const std::string& url);

/// Scheme, host and port of a URL in lower case, as `http://camera:80`; empty if it is no URL.
std::string server_of(const std::string& url);

}  // namespace sightline::media
