#pragma once
/// Internal to src/gallery: a connection to an SQLite database, its statements and transactions. SQLite's
/// failures become Errors with the file's name.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace sightline::gallery {

/// A connection. Thread-safety: none, one thread at a time.
///
/// The database is untrusted: its schema may not call unsafe functions, and values are limited to 16 MiB.
/// Deleted data are overwritten, in the journal (`wipe`) and where a file becomes shorter, too; there are no
/// temporary files.
class Database {
 public:
  enum class Mode {
    read,  ///< nothing is changed
    write,
    create,     ///< write; a file that is not there, or is empty, is made, for its owner alone
    in_memory,  ///< there is no file, whatever its name; see `bytes`
  };

  /// @param patience  how long a statement waits for another program's
  /// Throws Error (input) if the file cannot be opened, Error (failed) where it cannot be made. Whether it
  /// is a database shows with the first statement.
  Database(std::filesystem::path file, Mode mode, std::chrono::milliseconds patience);

  const std::filesystem::path& file() const { return file_; }
  /// Content of the database's file.
  std::string bytes();
  void set_patience(std::chrono::milliseconds patience);
  /// Runs one statement that has no parameters.
  void run(const char* sql);
  /// The first column of the first row of such a statement.
  std::int64_t integer(const char* sql);
  /// Reserves disk space for the journal of a deletion: a file `NAME-reserve` next to the database, as large
  /// as the database, at most 16 MiB. Best effort; call it after the database has grown. Another object of
  /// that name, such as a link or FIFO, is removed and not written to.
  void reserve();
  /// Makes that space the journal of the transaction that has begun.
  void use_reserve();
  /// Rewrites the database without free space. The space that it gives back is overwritten by `wipe`.
  void vacuum();
  /// Overwrites what earlier transactions have left: their journal, which then is the reserve or is removed,
  /// and what is behind the database's last page. Throws Error (failed) if another program uses the database.
  void wipe();
  /// A number that differs after every change of the database, by whatever program.
  std::int64_t version();

  /// Throws the Error for an SQLite code: damaged, locked, full, not a database... Throws std::bad_alloc for
  /// lack of memory.
  [[noreturn]] void fail(int code) const;

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  std::filesystem::path reserve_file() const;
  std::filesystem::path journal_file() const;
  void recover();
  void wipe_behind_last_page();
  /// Throws Error (input) if the journal is no file of the database's own.
  void check_side_files() const;

  std::filesystem::path file_;
  std::unique_ptr<sqlite3, Close> connection_;
};

/// A statement with the values of its question marks, in order. The SQL is always a constant; user input is
/// always a value.
class Statement {
 public:
  template <typename... Values>
  Statement(Database& database, const char* sql, const Values&... values)
      : Statement(database, sql, nullptr) {
    (bind(values), ...);
  }

  /// The next row; false if there is none.
  bool step();
  /// Runs a statement without rows to its end. @return how many rows have changed
  int run();

  /// Columns of the row, from 0. Bytes are good until the next step.
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  std::span<const std::uint8_t> bytes(int column) const;

 private:
  Statement(Database& database, const char* sql, std::nullptr_t);
  void bind(std::int64_t value);
  void bind(double value);
  void bind(std::string_view value);
  void bind(std::span<const std::uint8_t> value);
  void check(int code) const;

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int next_ = 1;  // parameter
};

/// Atomic transaction; rolled back unless committed.
class Transaction {
 public:
  enum class Kind {
    read,   ///< everything that is read is of one moment
    write,  ///< excludes other writers
    alone,  ///< excludes readers, too
  };
  Transaction(Database& database, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace sightline::gallery
