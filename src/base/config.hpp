#pragma once
/// Pipeline configurations: TOML files whose every key is checked, with line numbers in the errors.
///
/// A key that nothing reads is an error, so a misspelt option never passes silently.

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sightline {

/// One configuration, that is: a file, and values that override it (from the command line).
/// Thread-safety: none; read it in one thread.
class Config {
 public:
  using Value = std::variant<double, std::string>;

  /// Reads a file. Throws Error (usage) with file and line on bad syntax, and Error (usage) where it cannot
  /// be read.
  static Config load(const std::filesystem::path& file);
  /// The same for a file that may have the section several times, as [[section]]: a configuration for each,
  /// in their order, with all that the file says besides.
  static std::vector<Config> load_each(const std::filesystem::path& file, const std::string& section);
  /// From text; `name` stands for the file in errors.
  static Config parse(std::string_view text, const std::string& name);

  /// Another one of the same file, with the same overrides, of which nothing has been read yet. A warning
  /// about the file that one of them gave is not given by the other.
  Config fresh_copy() const;

  Config(Config&&) noexcept;
  Config& operator=(Config&&) noexcept;
  ~Config();

  /// Overrides or adds `section.key`.
  void set(const std::string& section, const std::string& key, Value value);
  /// Leaves out what the file says for `section.key`; what `set` gave it stays.
  void leave_out(const std::string& section, const std::string& key);

  /// Values by section and key. Each throws Error (usage), with file, line and key, where the value has
  /// another type or lies outside the given range. Reading a key marks it as known.
  std::string text(const std::string& section, const std::string& key, std::string_view fallback) const;
  double number(const std::string& section, const std::string& key, double fallback, double smallest,
                double largest) const;
  std::optional<double> optional_number(const std::string& section, const std::string& key, double smallest,
                                        double largest) const;
  /// The same for a value that must be a whole number.
  std::optional<int> optional_whole_number(const std::string& section, const std::string& key, int smallest,
                                           int largest) const;

  /// A list of so many numbers, `key = [1, 2]`.
  std::optional<std::vector<double>> optional_numbers(const std::string& section, const std::string& key,
                                                      std::size_t count, double smallest,
                                                      double largest) const;

  /// The tables `[[section.key]]`, in the order of the file: each is a configuration of its own, with the
  /// table as its section of that name, and errors that name file and line as ever.
  std::vector<Config> tables(const std::string& section, const std::string& key) const;

  /// true or false; a number given by `set` is true unless it is 0.
  bool flag(const std::string& section, const std::string& key, bool fallback) const;

  /// A path from the configuration, relative to the file's folder unless absolute or given by `set`.
  std::filesystem::path path(const std::string& section, const std::string& key,
                             std::string_view fallback) const;

  /// The path of a model: the same, and where no such file is there, the model that ships under that name
  /// ("people") or relative path ("models/people.safetensors"). So copies of a shipped configuration run.
  std::filesystem::path model_path(const std::string& section, const std::string& key,
                                   std::string_view fallback) const;

  /// Marks keys as known that are to be read later.
  void expect(const std::string& section, std::span<const char* const> keys) const;

  /// Has `section.key` read from its former name where the file has that one, with a warning that names the
  /// line. A file with both is an Error (usage). Calling it again changes nothing.
  void accept_former(const std::string& section, const std::string& key, const std::string& former) const;

  /// Marks a section as somebody else's to read, whatever is in it.
  void expect_section(const std::string& section) const;

  /// Throws Error (usage) naming the first section or key that nothing has read.
  void expect_all_known() const;

  const std::string& name() const;

 private:
  struct Data;
  static std::vector<Config> parse_each(std::string_view text, const std::string& name,
                                        const std::string& section);
  explicit Config(std::unique_ptr<Data> data);
  std::unique_ptr<Data> data_;
};

}  // namespace sightline
