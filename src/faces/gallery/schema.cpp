#include "faces/gallery/schema.hpp"

#include <array>
#include <set>

#include "base/error.hpp"

namespace sightline::gallery {
namespace {

// Tells a gallery from other programs' databases ("SLfa"), and its format from later ones. To change the
// format: count the version up, and turn a gallery of the version before into one of this when it is opened
// to be written.
constexpr std::int64_t kApplication = 0x534C6661;
constexpr std::int64_t kVersion = 1;
constexpr const char* kMarkApplication = "PRAGMA application_id = 1397515873";
constexpr const char* kMarkVersion = "PRAGMA user_version = 1";
constexpr std::int64_t kLargestTemplate = 1 << 20;

// The statements exactly as SQLite stores them; a gallery contains only these.
constexpr std::array kTables = {
    "CREATE TABLE model(one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL, hash TEXT NOT NULL, "
    "settings TEXT NOT NULL, bytes INTEGER NOT NULL) STRICT",
    "CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, added INTEGER NOT NULL) STRICT",
    "CREATE TABLE templates(id INTEGER PRIMARY KEY, person INTEGER NOT NULL REFERENCES people(id) ON DELETE "
    "CASCADE, bytes BLOB NOT NULL, source TEXT NOT NULL, sharpness REAL NOT NULL, added INTEGER NOT NULL, "
    "picture BLOB NOT NULL) STRICT",
    "CREATE INDEX templates_of_person ON templates(person)",
    "CREATE TABLE threshold(one INTEGER PRIMARY KEY CHECK (one = 1), distance INTEGER NOT NULL, rate REAL "
    "NOT "
    "NULL, people INTEGER NOT NULL, mistaken INTEGER NOT NULL, templates INTEGER NOT NULL, from_model "
    "INTEGER "
    "NOT NULL, made INTEGER NOT NULL) STRICT",
};

[[noreturn]] void refuse(const Database& database, const std::string& what, const std::string& remedy) {
  throw Error(ExitCode::input, "'" + database.file().string() + "' " + what, remedy)
      .about(database.file().string());
}

void check_whole(Database& database) {
  Statement check(database, "PRAGMA quick_check(1)");
  if (!check.step() || check.text(0) != "ok")
    refuse(database, "is a damaged gallery", "restore a backup, or add the people again");
}

void check_schema(Database& database) {
  std::set<std::string> wanted(kTables.begin(), kTables.end());
  Statement schema(database, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL");
  while (schema.step()) {
    if (wanted.erase(schema.text(0)) == 0)
      refuse(database, "contains objects that do not belong to a gallery",
             "use one made by `sightline faces`");
  }
  if (!wanted.empty()) refuse(database, "lacks a part of a gallery", "use one made by `sightline faces`");
}

}  // namespace

void make_tables(Database& database, const TemplateKind& kind) {
  if (kind.bytes < 1 || kind.bytes > kLargestTemplate) throw std::logic_error("templates of no size");
  Transaction transaction(database, Transaction::Kind::write);
  // Another program may have been quicker, or it is a file of something else.
  if (database.integer("SELECT count(*) FROM sqlite_schema") > 0 ||
      database.integer("PRAGMA application_id") != 0)
    return;
  for (const char* sql : kTables) database.run(sql);
  Statement(database, "INSERT INTO model VALUES (1, ?, ?, ?, ?)", kind.model, kind.hash, kind.settings,
            kind.bytes)
      .run();
  database.run(kMarkApplication);
  database.run(kMarkVersion);
  transaction.commit();
}

TemplateKind check_tables(Database& database) {
  if (database.integer("PRAGMA application_id") != kApplication)
    refuse(database, "is a database, but not a gallery", "make a gallery with `sightline faces add`");
  if (const std::int64_t version = database.integer("PRAGMA user_version"); version != kVersion) {
    refuse(database,
           "is a gallery in format " + std::to_string(version) +
               ", and this version of Sightline knows format " + std::to_string(kVersion),
           "use the version that made it, or a newer one");
  }
  check_whole(database);
  check_schema(database);
  Statement model(database, "SELECT name, hash, settings, bytes FROM model");
  if (!model.step()) refuse(database, "does not name its model", "restore a backup");
  TemplateKind kind{model.text(0), model.text(1), model.text(2), model.integer(3)};
  if (kind.bytes < 1 || kind.bytes > kLargestTemplate)
    refuse(database, "has templates of " + std::to_string(kind.bytes) + " bytes", "restore a backup");
  return kind;
}

}  // namespace sightline::gallery
