#pragma once
/// Pipeline configurations: TOML files whose every key is checked, with line numbers in the errors.
///
/// A key that nothing reads is an error, so a misspelt option never passes silently.

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sightline {

/// Contents of a configuration file, with overriding values from the command line.
/// Thread-safety: none; use from one thread at a time.
class Config {
 public:
  using Value = std::variant<double, std::string>;

  // These three are part of the library `detectors`: the core needs no parser of TOML.
  /// Reads a file. Throws Error (usage) with file and line on bad syntax, and without a line if it cannot be
  /// read.
  static Config load(const std::filesystem::path& file);
  /// Reads a file that may repeat `[[section]]`. Returns one configuration per `[[section]]`, in file order;
  /// each also has all other sections. Throws as `load`.
  static std::vector<Config> load_each(const std::filesystem::path& file, const std::string& section);
  /// Parses text; errors show `name` as the file. Throws as `load`.
  static Config parse(std::string_view text, const std::string& name);

  /// Copy with the same overrides, in which no key is marked as known. The copy does not repeat warnings
  /// about the file that were already given.
  Config fresh_copy() const;

  Config(Config&&) noexcept;
  Config& operator=(Config&&) noexcept;
  ~Config();

  /// Overrides or adds `section.key`.
  void set(const std::string& section, const std::string& key, Value value);
  /// Ignores the file's value of `section.key`; a value from `set` still applies.
  void leave_out(const std::string& section, const std::string& key);

  /// Values by section and key; `fallback` applies if the key is missing. They throw Error (usage), with
  /// file, line and key, if the value has the wrong type or is out of range. Reading a key marks it as known.
  std::string text(const std::string& section, const std::string& key, std::string_view fallback) const;
  std::optional<std::string> optional_text(const std::string& section, const std::string& key) const;
  double number(const std::string& section, const std::string& key, double fallback, double smallest,
                double largest) const;
  std::optional<double> optional_number(const std::string& section, const std::string& key, double smallest,
                                        double largest) const;
  /// As `optional_number`; throws Error (usage) unless the value is a whole number.
  std::optional<int> optional_whole_number(const std::string& section, const std::string& key, int smallest,
                                           int largest) const;

  /// List of exactly `count` numbers, `key = [1, 2]`.
  std::optional<std::vector<double>> optional_numbers(const std::string& section, const std::string& key,
                                                      std::size_t count, double smallest,
                                                      double largest) const;

  /// The tables `[[section.key]]`, in file order. Each is returned as a configuration whose section `section`
  /// is that table; its errors name file and line as usual.
  std::vector<Config> tables(const std::string& section, const std::string& key) const;

  /// Boolean value. A number from `set` is true unless it is 0.
  bool flag(const std::string& section, const std::string& key, bool fallback) const;
  std::optional<bool> optional_flag(const std::string& section, const std::string& key) const;

  /// Path, resolved relative to the file's folder unless it is absolute or comes from `set`.
  std::filesystem::path path(const std::string& section, const std::string& key,
                             std::string_view fallback) const;

  /// Path of a model file: as `path`, but if that file does not exist, the shipped model of that name
  /// ("people") or relative path ("models/people.safetensors"). Copies of shipped configurations therefore
  /// still find their models.
  std::filesystem::path model_path(const std::string& section, const std::string& key,
                                   std::string_view fallback) const;

  /// Declares the file that a key stands for: `fingerprint` hashes its contents instead of the key's value.
  void note_file(const std::string& section, const std::string& key, const std::filesystem::path& file) const;
  /// Hash of all values and of the noted files' contents, without the sections `schedule` and `knob`.
  std::string fingerprint() const;

  /// Marks keys as known that will be read later.
  void expect(const std::string& section, std::span<const char* const> keys) const;

  /// Accepts the former name of `section.key`: if the file uses it, its value is read, with a warning that
  /// names the line. Throws Error (usage) if the file has both names. Idempotent.
  void accept_former(const std::string& section, const std::string& key, const std::string& former) const;

  /// Marks a section and all its keys as known.
  void expect_section(const std::string& section) const;

  /// Throws Error (usage) that names the first unknown section or key in the file.
  void expect_all_known() const;

  const std::string& name() const;

  /// Files that the results depend on: the configuration itself, and every path that `path` and `model_path`
  /// have returned so far, for this configuration or for one from the same file. Not all may exist.
  const std::set<std::filesystem::path>& files() const;
  /// Adds a file that was found in another way.
  void depends_on(const std::filesystem::path& file) const;

 private:
  struct Data;
  static std::vector<Config> parse_each(std::string_view text, const std::string& name,
                                        const std::string& section);
  explicit Config(std::unique_ptr<Data> data);
  std::unique_ptr<Data> data_;
};

}  // namespace sightline
