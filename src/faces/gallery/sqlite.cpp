#include "faces/gallery/sqlite.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/error.hpp"
#include "base/fault.hpp"
#include "faces/gallery/gallery.hpp"

namespace sightline::gallery {
namespace fs = std::filesystem;
namespace {

constexpr int kLargestValue = 16 << 20;

// Creates the file with mode 0600, because SQLite would make it readable for everybody. An empty file that
// the user made beforehand gets the same mode; a gallery keeps the mode that its owner has given it. An
// existing file is not opened, because closing it would release the locks of this process's other
// connections.
void make_private_file(const fs::path& file) {
  constexpr std::size_t kLongestEnding = std::string_view("-journal").size();
  const fs::path folder = file.parent_path();
  const long longest = ::pathconf(folder.empty() ? "." : folder.c_str(), _PC_NAME_MAX);
  if (longest > 0 && file.filename().native().size() + kLongestEnding > static_cast<std::size_t>(longest)) {
    throw Error(ExitCode::usage,
                "the name of the gallery '" + file.string() + "' is too long for its journal, which has " +
                    std::to_string(kLongestEnding) + " more bytes",
                "choose a shorter name");
  }
  const int handle = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (handle >= 0) {
    ::close(handle);
    return;
  }
  struct stat there {};
  if (errno == EEXIST && ::stat(file.c_str(), &there) == 0 &&
      (there.st_size > 0 || ::chmod(file.c_str(), 0600) == 0))
    return;
  throw Error(ExitCode::failed, "cannot make the gallery '" + file.string() + "': " + std::strerror(errno),
              "check the folder and its permissions");
}

constexpr std::uintmax_t kMaxReserve = 16 << 20;

// Neither a FIFO nor a device nor one of several names of a file.
bool is_own_file(const struct stat& file) {
  return S_ISREG(file.st_mode) && file.st_nlink == 1;
}

// Overwrites all bytes of a file on the disk. Returns false where that cannot be.
bool overwrite(int handle, off_t size) {
  const std::string zeros(1 << 16, '\0');
  for (off_t place = 0; place < size;) {
    const auto wanted = static_cast<std::size_t>(std::min<off_t>(size - place, std::ssize(zeros)));
    const ssize_t written = ::pwrite(handle, zeros.data(), wanted, place);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    place += written;
  }
  return ::fdatasync(handle) == 0;
}

}  // namespace

LibraryVersion library_version() {
  return {"SQLite", SQLITE_VERSION, sqlite3_libversion()};
}

void Database::Close::operator()(sqlite3* connection) const {
  sqlite3_close_v2(connection);
}

Database::Database(fs::path file, Mode mode, std::chrono::milliseconds patience) : file_(std::move(file)) {
  if (mode == Mode::create) make_private_file(file_);
  sqlite3* opened = nullptr;
  // SQLite opens a file that may not be written as read-only.
  const fs::path name = mode == Mode::in_memory ? ":memory:" : fs::absolute(file_);
  int code = sqlite3_open_v2(name.c_str(), &opened,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  connection_.reset(opened);  // also after a failure
  if (fault::strikes(fault::Kind::open, "sqlite3_open_v2")) code = SQLITE_CANTOPEN;
  if (code != SQLITE_OK) fail(code);
  if (mode != Mode::read && sqlite3_db_readonly(opened, "main") == 1) fail(SQLITE_READONLY);
  set_patience(patience);
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, kLargestValue);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_FKEY, 1, nullptr);
  run("PRAGMA temp_store = MEMORY");
  run("PRAGMA cell_size_check = ON");
  run(mode == Mode::read ? "PRAGMA query_only = ON" : "PRAGMA secure_delete = ON");
  if (mode != Mode::in_memory) recover();
}

// The first statement undoes a change that was interrupted, and removes its journal.
void Database::recover() {
  const int journal = ::open(journal_file().c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (journal < 0) return;
  const std::unique_ptr<const int, void (*)(const int*)> closed(&journal,
                                                                [](const int* one) { ::close(*one); });
  integer("SELECT count(*) FROM sqlite_schema");
  struct stat there {};
  if (::fstat(journal, &there) == 0 && S_ISREG(there.st_mode) && there.st_nlink == 0)
    static_cast<void>(overwrite(journal, there.st_size));
}

void Database::set_patience(std::chrono::milliseconds patience) {
  sqlite3_busy_timeout(connection_.get(), static_cast<int>(patience.count()));
}

fs::path Database::reserve_file() const {
  fs::path file = file_;
  return file += "-reserve";
}

fs::path Database::journal_file() const {
  return sqlite3_filename_journal(sqlite3_db_filename(connection_.get(), "main"));
}

// Asked before each statement, since others may write to the folder: SQLite would wait for the writer of a
// FIFO there, and write into a file that has another name, too.
void Database::check_side_files() const {
  const char* const name = sqlite3_db_filename(connection_.get(), "main");
  for (const char* side : {sqlite3_filename_journal(name), sqlite3_filename_wal(name)}) {
    struct stat there {};
    if (::lstat(side, &there) != 0 || is_own_file(there)) continue;
    throw Error(ExitCode::input,
                "cannot use the gallery '" + file_.string() + "': '" + side + "' is not a regular file",
                "remove it, and keep galleries in a folder that only you can write to");
  }
}

void Database::reserve() {
  const fs::path file = reserve_file();
  struct stat there {
  }, database{};
  // Other users of the folder may have replaced the file, before or meanwhile.
  if (::lstat(file.c_str(), &there) == 0 && !is_own_file(there) && ::unlink(file.c_str()) != 0) return;
  const int handle = ::open(file.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (handle < 0) return;
  if (::fstat(handle, &there) == 0 && is_own_file(there) && ::stat(file_.c_str(), &database) == 0) {
    // A journal has a few bytes beside each page, and a head.
    const auto size = static_cast<std::uintmax_t>(database.st_size);
    const auto wanted = static_cast<off_t>(std::min(size + size / 16 + 65536, kMaxReserve));
    static_cast<void>(::fchmod(handle, database.st_mode & 0666));  // as a journal of it has
    if (::posix_fallocate(handle, 0, wanted) != 0 && ::fstat(handle, &there) == 0 && there.st_blocks == 0)
      ::unlink(file.c_str());  // a full disk allows none
  }
  ::close(handle);
}

// The journal is written over the file that is there, so no other program can take the space meanwhile.
void Database::use_reserve() {
  struct stat there {};
  const fs::path file = reserve_file();
  if (::lstat(file.c_str(), &there) != 0 || !is_own_file(there)) return;
  const fs::path journal = journal_file();
  if (::renameat2(AT_FDCWD, file.c_str(), AT_FDCWD, journal.c_str(), RENAME_NOREPLACE) == 0) return;
  if (errno == EINVAL && ::lstat(journal.c_str(), &there) != 0)  // a file system without such a renaming
    ::rename(file.c_str(), journal.c_str());
}

void Database::vacuum() {
  struct stat there {};
  // SQLite shortens files to multiples of this.
  int size =
      ::stat(file_.c_str(), &there) == 0 && there.st_size < INT_MAX ? static_cast<int>(there.st_size) : 0;
  sqlite3_file_control(connection_.get(), "main", SQLITE_FCNTL_CHUNK_SIZE, &size);
  try {
    run("VACUUM");
  } catch (...) {
    size = 0;
    sqlite3_file_control(connection_.get(), "main", SQLITE_FCNTL_CHUNK_SIZE, &size);
    throw;
  }
  size = 0;
  sqlite3_file_control(connection_.get(), "main", SQLITE_FCNTL_CHUNK_SIZE, &size);
}

// Through SQLite's own descriptor: to close another one would release the locks of this process.
void Database::wipe_behind_last_page() {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(connection_.get(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  sqlite3_int64 size = 0;
  if (!file || !file->pMethods || file->pMethods->xFileSize(file, &size) != SQLITE_OK) return;
  const std::int64_t end = integer("PRAGMA page_count") * integer("PRAGMA page_size");
  if (end <= 0 || size <= end) return;
  const std::string zeros(1 << 16, '\0');
  int code = SQLITE_OK;
  for (sqlite3_int64 place = end; place < size && code == SQLITE_OK; place += std::ssize(zeros)) {
    const auto bytes = static_cast<int>(std::min<sqlite3_int64>(size - place, std::ssize(zeros)));
    code = file->pMethods->xWrite(file, zeros.data(), bytes, place);
  }
  if (code == SQLITE_OK) code = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
  if (code == SQLITE_OK) code = file->pMethods->xTruncate(file, end);
  if (code != SQLITE_OK) fail(code);
}

void Database::wipe() {
  struct stat journal_there {
  }, database{};
  const bool has_journal = ::lstat(journal_file().c_str(), &journal_there) == 0;
  const bool is_long = ::stat(file_.c_str(), &database) == 0 &&
                       database.st_size > integer("PRAGMA page_count") * integer("PRAGMA page_size");
  if (!has_journal && !is_long) return;
  Transaction alone(*this, Transaction::Kind::alone);
  wipe_behind_last_page();
  const fs::path journal = journal_file(), reserve = reserve_file();
  const int handle = ::open(journal.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (handle >= 0) {
    struct stat there {};
    const bool is_wiped =
        ::fstat(handle, &there) == 0 && is_own_file(there) && overwrite(handle, there.st_size);
    ::close(handle);
    if (!is_wiped) fail(SQLITE_IOERR_WRITE);
    const bool is_too_large = static_cast<std::uintmax_t>(there.st_size) > kMaxReserve;
    if (is_too_large ||
        ::renameat2(AT_FDCWD, journal.c_str(), AT_FDCWD, reserve.c_str(), RENAME_NOREPLACE) != 0)
      ::unlink(journal.c_str());
  }
  alone.commit();
}

std::string Database::bytes() {
  struct Free {
    void operator()(unsigned char* memory) const { sqlite3_free(memory); }
  };
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, Free> copy(sqlite3_serialize(connection_.get(), "main", &size, 0));
  if (!copy || fault::strikes(fault::Kind::allocate, "sqlite3_serialize")) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(copy.get()), static_cast<std::size_t>(size)};
}

void Database::run(const char* sql) {
  Statement(*this, sql).run();
}

std::int64_t Database::integer(const char* sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::int64_t Database::version() {
  // The first counts commits of others, the second changes by this connection.
  return integer("PRAGMA data_version") + sqlite3_total_changes64(connection_.get());
}

void Database::fail(int code) const {
  const std::string name = "the gallery '" + file_.string() + "'";
  const int system = connection_ ? sqlite3_system_errno(connection_.get()) : 0;
  std::string reason = sqlite3_errstr(code);
  if (system != 0) reason += std::string(", ") + std::strerror(system);
  switch (code & 0xFF) {
    case SQLITE_NOMEM:
      throw std::bad_alloc();
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error(ExitCode::failed, name + " is in use by another program", "try again later");
    case SQLITE_NOTADB:
      throw Error(ExitCode::input, "'" + file_.string() + "' is not a gallery",
                  "make a gallery with `sightline faces add`");
    case SQLITE_CORRUPT:
      throw Error(ExitCode::input, name + " is damaged", "restore a backup, or add the people again");
    case SQLITE_CANTOPEN:
      throw Error(
          ExitCode::input, "cannot open " + name + " (" + reason + ")",
          "check the name, the folder and their permissions; for other readers, the owner of a gallery of an "
          "earlier version must change it once (`sightline faces calibrate`)");
    case SQLITE_READONLY:
      if (code == SQLITE_READONLY_ROLLBACK) {
        throw Error(ExitCode::failed, "cannot read " + name + ": a change was interrupted",
                    "let its owner run `sightline faces list` to undo the change");
      }
      [[fallthrough]];
    case SQLITE_PERM:
      throw Error(ExitCode::failed, "cannot write " + name + " (" + reason + ")",
                  "check the permissions of the file and its folder");
    case SQLITE_FULL:
    case SQLITE_IOERR:
      throw Error(ExitCode::failed, "cannot read or write " + name + " (" + reason + ")",
                  "check the disk space; the previous content is intact");
    default:
      throw Error(ExitCode::failed, "cannot use " + name + " (" + reason + ")");
  }
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement::Statement(Database& database, const char* sql, std::nullptr_t) : database_(database) {
  database.check_side_files();
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v2(database.connection_.get(), sql, -1, &prepared, nullptr);
  statement_.reset(prepared);
  check(code);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) database_.fail(code);
}

void Statement::bind(std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), next_++, value));
}
void Statement::bind(double value) {
  check(sqlite3_bind_double(statement_.get(), next_++, value));
}
void Statement::bind(std::string_view value) {
  check(sqlite3_bind_text64(statement_.get(), next_++, value.empty() ? "" : value.data(), value.size(),
                            SQLITE_TRANSIENT, SQLITE_UTF8));
}
void Statement::bind(std::span<const std::uint8_t> value) {
  check(value.empty()
            ? sqlite3_bind_zeroblob(statement_.get(), next_, 0)
            : sqlite3_bind_blob64(statement_.get(), next_, value.data(), value.size(), SQLITE_TRANSIENT));
  ++next_;
}

bool Statement::step() {
  const bool reads = sqlite3_stmt_readonly(statement_.get()) != 0;
  int code = SQLITE_IOERR;
  if (!fault::strikes(reads ? fault::Kind::read : fault::Kind::write, "sqlite3_step"))
    code = sqlite3_step(statement_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) database_.fail(code);
  return code == SQLITE_ROW;
}

int Statement::run() {
  while (step()) {
  }
  return sqlite3_changes(database_.connection_.get());
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}
std::string Statement::text(int column) const {
  const std::span<const std::uint8_t> all = bytes(column);
  return {reinterpret_cast<const char*>(all.data()), all.size()};
}
std::span<const std::uint8_t> Statement::bytes(int column) const {
  const void* const data = sqlite3_column_blob(statement_.get(), column);
  return {static_cast<const std::uint8_t*>(data),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Transaction::Transaction(Database& database, Kind kind) : database_(database) {
  database.run(kind == Kind::write ? "BEGIN IMMEDIATE" : kind == Kind::alone ? "BEGIN EXCLUSIVE" : "BEGIN");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.run("ROLLBACK");
  } catch (...) {  // SQLite has done so itself, or does when the file is closed
  }
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace sightline::gallery
