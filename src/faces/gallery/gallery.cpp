#include "faces/gallery/gallery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/shipped_files.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "faces/gallery/names.hpp"
#include "faces/gallery/schema.hpp"
#include "faces/gallery/sqlite.hpp"

namespace sightline::gallery {
namespace fs = std::filesystem;
namespace {

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

constexpr const char* kSelectPeople =
    "SELECT people.id, people.name, count(templates.id), people.added, coalesce(max(templates.added), "
    "people.added) FROM people LEFT JOIN templates ON templates.person = people.id GROUP BY people.id ORDER "
    "BY "
    "people.name";
constexpr const char* kSelectPerson =
    "SELECT people.id, people.name, count(templates.id), people.added, coalesce(max(templates.added), "
    "people.added) FROM people LEFT JOIN templates ON templates.person = people.id WHERE people.name = ? "
    "GROUP "
    "BY people.id";

// An untrusted file may contain invalid names.
std::string checked_name(const Database& database, std::string name) {
  try {
    check_name(name);
  } catch (const Error& error) {
    throw Error(ExitCode::input,
                "the gallery '" + database.file().string() + "' is not usable: " + error.message());
  }
  return name;
}

Person person_of(const Database& database, const Statement& row) {
  return {row.integer(0), checked_name(database, row.text(1)), row.integer(2), row.integer(3),
          row.integer(4)};
}

void insert(Database& database, std::int64_t person, const NewTemplate& one, std::int64_t added) {
  Statement(
      database,
      "INSERT INTO templates (person, bytes, source, sharpness, added, picture) VALUES (?, ?, ?, ?, ?, ?)",
      person, one.bytes, printable(one.source.substr(0, Gallery::kLongestSource)), one.sharpness, added,
      std::span(reinterpret_cast<const std::uint8_t*>(one.picture.data()), one.picture.size()))
      .run();
}

// The person of that name, made where there is none.
std::int64_t person_named(Database& database, const std::string& given, std::int64_t added) {
  const std::string name = normal_name(given);
  Statement(database, "INSERT INTO people (name, added) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", name,
            added)
      .run();
  Statement person(database, "SELECT id FROM people WHERE name = ?", name);
  person.step();
  return person.integer(0);
}

void check_size(const TemplateKind& kind, std::span<const std::uint8_t> bytes) {
  if (static_cast<std::int64_t>(bytes.size()) != kind.bytes)
    throw std::logic_error("a template of " + std::to_string(bytes.size()) + " bytes in a gallery of others");
}

// Overwrites what a change has left, and keeps a reserve. Returns why it could not.
std::string settle(Database& database) {
  std::string problem;
  try {
    database.wipe();
  } catch (const Error& error) {
    problem = error.what();
  }
  database.reserve();
  return problem;
}

// Earlier versions stored names as given. People whose names have one normal form become one.
void normalise_names(Database& database) {
  std::vector<std::pair<std::int64_t, std::string>> others;
  {
    Statement people(database, "SELECT id, name FROM people");
    while (people.step())
      if (std::string name = people.text(1); normal_name(name) != name)
        others.emplace_back(people.integer(0), normal_name(name));
  }
  if (others.empty()) return;
  Transaction transaction(database, Transaction::Kind::write);
  for (const auto& [id, name] : others) {
    Statement same(database, "SELECT id FROM people WHERE name = ?", name);
    if (same.step()) {
      Statement(database, "UPDATE templates SET person = ? WHERE person = ?", same.integer(0), id).run();
      Statement(database, "DELETE FROM people WHERE id = ?", id).run();
    } else {
      Statement(database, "UPDATE people SET name = ? WHERE id = ?", name, id).run();
    }
  }
  transaction.commit();
}

// Earlier versions had a write-ahead log. Readers cannot use one in a folder that they may not write to. The
// journal stays after a change until it is overwritten.
void prepare_to_write(Database& database) {
  database.run("PRAGMA journal_mode = PERSIST");
  normalise_names(database);
  settle(database);
}

// Settles a deletion that is refused as well.
class ReserveInUse {
 public:
  explicit ReserveInUse(Database& database) : database_(database) {}
  ~ReserveInUse() {
    try {
      if (!settled_) settle(database_);
    } catch (const std::exception&) {  // out of memory; the next change does it
    }
  }
  ReserveInUse(const ReserveInUse&) = delete;
  ReserveInUse& operator=(const ReserveInUse&) = delete;
  std::string end() {
    settled_ = true;
    return settle(database_);
  }

 private:
  Database& database_;
  bool settled_ = false;
};

// The reason why deleted data could not be overwritten; empty if they are.
std::string erase_traces(Database& database, ReserveInUse& reserve) {
  std::string left;
  try {
    database.vacuum();
  } catch (const Error& error) {
    left = error.what();
  }
  if (const std::string problem = reserve.end(); left.empty()) left = problem;
  return left.empty() ? left : left + "; the next change tries again";
}

}  // namespace

Gallery::Gallery(std::unique_ptr<Database> database, TemplateKind kind)
    : database_(std::move(database)), kind_(std::move(kind)) {}
Gallery::~Gallery() = default;
Gallery::Gallery(Gallery&&) noexcept = default;
Gallery& Gallery::operator=(Gallery&&) noexcept = default;

Gallery::Gallery(const fs::path& file, Access access, std::chrono::milliseconds patience) {
  std::error_code error;
  if (!is_there(file)) {
    const bool other = fs::exists(file, error) && !fs::is_regular_file(file, error);
    throw Error(ExitCode::input,
                "'" + file.string() + (other ? "' is not a gallery" : "': there is no such gallery"),
                "`sightline faces add` makes one; --gallery names another"_message);
  }
  database_ = std::make_unique<Database>(
      file, access == Access::read ? Database::Mode::read : Database::Mode::write, patience);
  kind_ = check_tables(*database_);
  if (access == Access::write) prepare_to_write(*database_);
}

Gallery Gallery::make_in_memory(const TemplateKind& kind) {
  auto database = std::make_unique<Database>(":memory:", Database::Mode::in_memory, kPatience);
  make_tables(*database, kind);
  Gallery gallery(std::move(database), kind);
  gallery.is_in_memory_ = true;
  return gallery;
}

Gallery Gallery::open_or_make(const fs::path& file, const TemplateKind& kind,
                              std::chrono::milliseconds patience) {
  std::error_code error;
  if (fs::exists(file, error) && !fs::is_regular_file(file, error))
    throw Error(ExitCode::input, "'" + file.string() + "' is not a gallery",
                "name a file with --gallery"_message);
  if (!file.parent_path().empty())
    fs::create_directories(file.parent_path(), error);  // failures appear below
  auto database = std::make_unique<Database>(file, Database::Mode::create, patience);
  make_tables(*database, kind);
  TemplateKind found = check_tables(*database);
  prepare_to_write(*database);
  Gallery gallery(std::move(database), std::move(found));
  gallery.require(kind);
  return gallery;
}

bool Gallery::is_there(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && (fs::file_size(file, error) > 0 || error);
}

fs::path Gallery::default_file() {
  if (fs::path file = data_file("faces.gallery"); !file.empty()) return file;
  throw Error(ExitCode::usage, "no default gallery: neither XDG_DATA_HOME nor HOME is set",
              "name a file with --gallery"_message);
}

const fs::path& Gallery::file() const {
  return database_->file();
}

std::string Gallery::bytes() const {
  return database_->bytes();
}

void Gallery::set_patience(std::chrono::milliseconds patience) {
  database_->set_patience(patience);
}

void Gallery::require(const TemplateKind& kind) const {
  if (kind_.hash == kind.hash && kind_.bytes == kind.bytes) return;
  throw Error(ExitCode::model,
              "the gallery '" + file().string() + "' is for the model '" + printable(kind_.model) + "' (" +
                  printable(kind_.hash) + "), and this is '" + printable(kind.model) + "' (" +
                  printable(kind.hash) + "), whose templates cannot be compared with those in it",
              "use that model, or add the people to another gallery (--gallery)"_message);
}

std::vector<Person> Gallery::people() const {
  std::vector<Person> people;
  Statement all(*database_, kSelectPeople);
  while (all.step()) people.push_back(person_of(*database_, all));
  return people;
}

std::optional<Person> Gallery::find(const std::string& name) const {
  for (const std::string& form : {normal_name(name), name}) {  // earlier versions stored names as given
    Statement person(*database_, kSelectPerson, form);
    if (person.step()) return person_of(*database_, person);
  }
  return std::nullopt;
}

Person Gallery::person(const std::string& name) const {
  if (std::optional<Person> found = find(name)) return *found;
  std::vector<std::string> names;
  for (const Person& one : people()) names.push_back(one.name);
  const std::string nearest = nearest_of(name, names);
  throw Error(ExitCode::usage,
              "nobody in the gallery '" + file().string() + "' is called '" + printable(name) + "'",
              nearest.empty() ? "`sightline faces list` lists the people"
                              : "did you mean '" + printable(nearest) + "'?");
}

std::vector<StoredTemplate> Gallery::templates(const Person& person) const {
  std::vector<StoredTemplate> all;
  Statement rows(
      *database_,
      "SELECT bytes, picture, source, sharpness, id, added FROM templates WHERE person = ? ORDER BY id",
      person.id);
  while (rows.step()) {
    const auto bytes = rows.bytes(0);
    StoredTemplate one;
    one.bytes.assign(bytes.begin(), bytes.end());
    one.picture = rows.text(1);
    one.source = printable(rows.text(2));
    one.sharpness = rows.real(3);
    one.id = rows.integer(4);
    one.added = rows.integer(5);
    all.push_back(std::move(one));
  }
  return all;
}

std::optional<Threshold> Gallery::threshold() const {
  Statement row(*database_,
                "SELECT distance, rate, people, mistaken, templates, from_model, made FROM threshold");
  if (!row.step()) return std::nullopt;
  return Threshold{row.integer(0), row.real(1),         row.integer(2), row.integer(3),
                   row.integer(4), row.integer(5) != 0, row.integer(6)};
}

Snapshot Gallery::snapshot() {
  Transaction moment(*database_, Transaction::Kind::read);
  Snapshot snapshot;
  snapshot.kind = kind_;
  std::map<std::int64_t, std::int32_t> places;
  Statement people(*database_, "SELECT id, name FROM people ORDER BY id");
  while (people.step()) {
    places.emplace(people.integer(0), static_cast<std::int32_t>(places.size()));
    snapshot.names.push_back(normal_name(checked_name(*database_, people.text(1))));
  }
  Statement rows(*database_, "SELECT person, bytes FROM templates ORDER BY person, id");
  while (rows.step()) {
    const auto place = places.find(rows.integer(0));
    const auto bytes = rows.bytes(1);
    if (place == places.end() || static_cast<std::int64_t>(bytes.size()) != kind_.bytes)
      throw Error(ExitCode::input,
                  "the gallery '" + file().string() + "' is damaged: it contains an invalid template",
                  "restore a backup, or add the people again");
    snapshot.owners.push_back(place->second);
    snapshot.templates.insert(snapshot.templates.end(), bytes.begin(), bytes.end());
  }
  snapshot.threshold = threshold();
  version_ = database_->version();
  moment.commit();
  return snapshot;
}

bool Gallery::changed() const {
  return database_->version() != version_;
}

void Gallery::add(const std::string& name, std::span<const NewTemplate> templates) {
  check_name(normal_name(name));
  for (const NewTemplate& one : templates) check_size(kind_, one.bytes);
  const std::int64_t time = now();
  Transaction transaction(*database_, Transaction::Kind::write);
  const std::int64_t person = person_named(*database_, name, time);
  for (const NewTemplate& one : templates) insert(*database_, person, one, time);
  transaction.commit();
  if (!is_in_memory_) settle(*database_);
}

void Gallery::rename(const std::string& name, const std::string& new_name) {
  const std::string normal = normal_name(new_name);
  check_name(normal);
  Transaction transaction(*database_, Transaction::Kind::write);
  const std::int64_t id = person(name).id;
  if (const auto other = find(normal); other && other->id != id) {
    throw Error(ExitCode::usage, "the name '" + new_name + "' is already in use",
                "merge two people with `sightline faces merge`");
  }
  Statement(*database_, "UPDATE people SET name = ? WHERE id = ?", normal, id).run();
  transaction.commit();
  if (!is_in_memory_) settle(*database_);
}

void Gallery::merge(const std::string& name, const std::vector<std::string>& others) {
  Transaction transaction(*database_, Transaction::Kind::write);
  const std::int64_t id = person(name).id;
  for (const std::string& other : others) {
    const std::int64_t from = person(other).id;
    if (from == id)
      throw Error(ExitCode::usage, "'" + name + "' cannot be merged with itself", "name another person");
    Statement(*database_, "UPDATE templates SET person = ? WHERE person = ?", id, from).run();
    Statement(*database_, "DELETE FROM people WHERE id = ?", from).run();
  }
  transaction.commit();
  if (!is_in_memory_) settle(*database_);
}

std::string Gallery::remove(const std::vector<std::string>& names) {
  ReserveInUse reserve(*database_);  // before the transaction: it settles after that is rolled back
  Transaction transaction(*database_, Transaction::Kind::write);
  std::set<std::int64_t> people;
  for (const std::string& name : names) people.insert(person(name).id);
  database_->use_reserve();
  for (const std::int64_t id : people) Statement(*database_, "DELETE FROM people WHERE id = ?", id).run();
  transaction.commit();
  return erase_traces(*database_, reserve);
}

std::string Gallery::remove_templates(const std::string& name, std::span<const std::size_t> places) {
  ReserveInUse reserve(*database_);
  Transaction transaction(*database_, Transaction::Kind::write);
  const Person owner = person(name);
  const std::vector<StoredTemplate> all = templates(owner);
  const std::set<std::size_t> once(places.begin(), places.end());
  for (const std::size_t place : once) {
    if (place >= all.size()) {
      throw Error(ExitCode::usage,
                  "'" + name + "' has " + counted(std::ssize(all), "picture") + ", and none with number " +
                      std::to_string(place + 1),
                  "`sightline faces show` lists their numbers");
    }
  }
  database_->use_reserve();
  for (const std::size_t place : once)
    Statement(*database_, "DELETE FROM templates WHERE id = ?", all[place].id).run();
  if (once.size() == all.size()) Statement(*database_, "DELETE FROM people WHERE id = ?", owner.id).run();
  transaction.commit();
  return erase_traces(*database_, reserve);
}

Imported Gallery::import(const Gallery& other, const std::vector<std::string>& names) {
  require(other.kind());
  std::vector<Person> people;
  if (names.empty()) people = other.people();
  for (const std::string& name : std::set<std::string>(names.begin(), names.end()))
    people.push_back(other.person(name));
  std::int64_t pictures = 0;
  for (const Person& person : people) pictures += person.templates;
  if (std::ssize(people) > kMaxImportedPeople || pictures > kMaxImportedPictures) {
    throw Error(
        ExitCode::input,
        fmt::format("'{}' has {} people with {} pictures to import, more than the limit of {} and {}",
                    other.file().string(), people.size(), pictures, kMaxImportedPeople, kMaxImportedPictures),
        "name fewer people");
  }
  Imported imported;
  Transaction transaction(*database_, Transaction::Kind::write);
  for (const Person& person : people) {
    if (!find(person.name)) ++imported.people;
    const std::int64_t id = person_named(*database_, person.name, person.added);
    std::set<std::vector<std::uint8_t>> known;
    for (StoredTemplate& one : templates({id, person.name})) known.insert(std::move(one.bytes));
    for (const StoredTemplate& one : other.templates(person)) {
      if (static_cast<std::int64_t>(one.bytes.size()) != kind_.bytes)
        throw Error(ExitCode::input,
                    "the gallery '" + other.file().string() + "' is damaged: it contains an invalid template",
                    "restore a backup");
      if (!known.insert(one.bytes).second) {
        ++imported.known;
        continue;
      }
      insert(*database_, id, one, one.added);
      ++imported.templates;
    }
  }
  transaction.commit();
  if (!is_in_memory_) settle(*database_);
  return imported;
}

void Gallery::set_threshold(const Threshold& t) {
  Transaction transaction(*database_, Transaction::Kind::write);
  Statement(*database_, "INSERT OR REPLACE INTO threshold VALUES (1, ?, ?, ?, ?, ?, ?, ?)", t.distance,
            t.rate, t.people, t.mistaken, t.templates, std::int64_t{t.from_model},
            t.made != 0 ? t.made : now())
      .run();
  transaction.commit();
  if (!is_in_memory_) settle(*database_);
}

}  // namespace sightline::gallery
