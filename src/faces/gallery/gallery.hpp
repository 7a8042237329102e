#pragma once
/// Gallery of known people with the templates of their faces, in one file.
///
/// The file is an SQLite database: it survives crashes, and several programs may have it open, read and
/// change it; they wait for each other. A file `NAME-reserve` next to it reserves space for deletions. The
/// gallery stores only the structures below, and only its owner may read it. All templates of a gallery are
/// of one model, since templates of different models are not comparable.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/versions.hpp"

namespace sightline::gallery {

class Database;

/// Model and settings that make a gallery's templates.
struct TemplateKind {
  std::string model;       ///< name of the model
  std::string hash;        ///< hash of the model with all settings; templates with different hashes are not
                           ///< comparable
  std::string settings;    ///< description of the settings
  std::int64_t bytes = 0;  ///< size of a template, 1 byte to 1 MiB
};

/// A template on its way into a gallery.
struct NewTemplate {
  std::vector<std::uint8_t> bytes;
  std::string picture;  ///< PNG of the aligned face that it describes
  std::string source;   ///< the picture or video that it is from
  double sharpness = 0;
};

struct StoredTemplate : NewTemplate {
  std::int64_t id = 0;
  std::int64_t added = 0;  ///< seconds since 1970
};

struct Person {
  std::int64_t id = 0;  ///< stays the same whatever the name
  std::string name;
  std::int64_t templates = 0;
  std::int64_t added = 0;  ///< the first and the last time, seconds since 1970
  std::int64_t changed = 0;
};

/// Largest distance of a match, and the basis of its choice.
struct Threshold {
  std::int64_t distance = 0;
  double rate = 0;             ///< requested false-match rate
  std::int64_t people = 0;     ///< people in the gallery then; each served as impostor for the others
  std::int64_t mistaken = 0;   ///< people with a false match
  std::int64_t templates = 0;  ///< templates in the gallery then
  bool from_model = false;     ///< the model's impostor distribution was used as well
  std::int64_t made = 0;       ///< seconds since 1970
};

/// All templates at one moment, contiguous for a search, ordered by person and age.
struct Snapshot {
  TemplateKind kind;
  std::vector<std::string> names;
  std::vector<std::uint8_t> templates;  ///< owners.size() rows of kind.bytes
  std::vector<std::int32_t> owners;     ///< index into names, by template
  std::optional<Threshold> threshold;

  std::size_t size() const { return owners.size(); }
  std::span<const std::uint8_t> row(std::size_t i) const {
    const auto bytes = static_cast<std::size_t>(kind.bytes);
    return std::span(templates).subspan(i * bytes, bytes);
  }
};

/// SQLite.
LibraryVersion library_version();

/// Counts of an import.
struct Imported {
  int people = 0;     ///< new people
  int templates = 0;  ///< new templates of new and known people
  int known = 0;      ///< templates that were there already
};

/// An open gallery. Every change is atomic.
///
/// Errors, as Error with the file's name. Opening throws (input) for a file that is missing, no gallery, of a
/// newer version, or damaged. All functions throw (failed) if another program locks it for longer than
/// `patience` or it cannot be read or written (full disk, read-only folder), (input) for damage, (usage) for
/// invalid names (see check_name) and unknown people. Thread-safety: one thread at a time. Any number of
/// programs may have one gallery open.
class Gallery {
 public:
  enum class Access { read, write };
  static constexpr std::chrono::milliseconds kPatience{10'000};
  /// Limits of one import, because the file may be a stranger's. The caller checks kMaxImportedBytes.
  static constexpr std::int64_t kMaxImportedPeople = 10'000, kMaxImportedPictures = 100'000;
  static constexpr std::uintmax_t kMaxImportedBytes = std::uintmax_t{1} << 30;
  static constexpr std::size_t kLongestSource = 1000;  ///< bytes of NewTemplate::source that are kept

  /// Opens an existing gallery. Reading also works in a read-only folder.
  Gallery(const std::filesystem::path& file, Access access, std::chrono::milliseconds patience = kPatience);
  /// Opens one to write; makes it, and its folders, where it is not there. Throws as `require`.
  static Gallery open_or_make(const std::filesystem::path& file, const TemplateKind& kind,
                              std::chrono::milliseconds patience = kPatience);
  /// Makes one in memory, to be written as a file (`bytes`).
  static Gallery make_in_memory(const TemplateKind& kind);
  ~Gallery();
  Gallery(Gallery&&) noexcept;
  Gallery& operator=(Gallery&&) noexcept;

  /// Whether there is something to open under that name; an empty file is as good as none.
  static bool is_there(const std::filesystem::path& file);
  /// Default gallery file: `sightline/faces.gallery` in $XDG_DATA_HOME, or in ~/.local/share. Throws Error
  /// (usage) if there is no such folder.
  static std::filesystem::path default_file();

  const std::filesystem::path& file() const;
  /// Content of a file with this gallery.
  std::string bytes() const;
  /// Changes how long functions wait for another program.
  void set_patience(std::chrono::milliseconds patience);
  const TemplateKind& kind() const { return kind_; }
  /// Throws Error (model) where templates of that kind cannot be compared with those in the gallery.
  void require(const TemplateKind& kind) const;

  /// Sorted by name, byte by byte.
  std::vector<Person> people() const;
  std::optional<Person> find(const std::string& name) const;
  /// Throws Error (usage) if nobody has the name.
  Person person(const std::string& name) const;
  /// Somebody's, by age.
  std::vector<StoredTemplate> templates(const Person& person) const;
  std::optional<Threshold> threshold() const;

  /// Everything that a search needs.
  Snapshot snapshot();
  /// Whether the gallery has changed since the last snapshot; takes microseconds.
  bool changed() const;

  /// Adds templates to a person, who is created if the name is new. Throws std::logic_error for templates of
  /// another size.
  void add(const std::string& name, std::span<const NewTemplate> templates);
  /// Throws Error (usage) if the new name exists.
  void rename(const std::string& name, const std::string& new_name);
  /// Moves all templates of the others to `name` and deletes the others.
  void merge(const std::string& name, const std::vector<std::string>& others);
  /// Deletes people and overwrites their data, in the journals of changes, too. A full disk does not prevent
  /// it, since a reserve keeps space for the journal: as much as the gallery has, at most 16 MiB.
  /// @return the reason why the file could not be rewritten and keeps some bytes; empty if none are left
  std::string remove(const std::vector<std::string>& names);
  /// Removes some of a person's templates, by their place in templates(); a person without templates is
  /// removed.
  std::string remove_templates(const std::string& name, std::span<const std::size_t> places);
  /// Copies people with all their templates; templates of a known name are added to that person.
  /// @param names  empty: everybody. Throws Error (input) for more than the limits above, Error (usage) for a
  /// name that `other` lacks, and like `require`.
  Imported import(const Gallery& other, const std::vector<std::string>& names);
  void set_threshold(const Threshold& threshold);

 private:
  Gallery(std::unique_ptr<Database> database, TemplateKind kind);

  std::unique_ptr<Database> database_;
  TemplateKind kind_;
  bool is_in_memory_ = false;
  std::int64_t version_ = -1;  // version of the last snapshot
};

}  // namespace sightline::gallery
