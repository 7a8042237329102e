#include "texture/cells_file.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <regex>

#include "support/errors.hpp"
#include "support/temp_dir.hpp"

namespace sightline::texture {
namespace {

namespace fs = std::filesystem;

// As numpy.load reads it.
struct Npy {
  std::vector<std::int64_t> shape;
  std::vector<std::uint32_t> values;
};

Npy load_npy(const std::string& file) {
  const std::string bytes = test::bytes_of(file);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\0", 8));
  const std::size_t head = static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ((10 + head) % 64, 0u) << "the format's alignment";
  const std::string text = bytes.substr(10, head);
  EXPECT_EQ(text.back(), '\n');
  std::smatch parts;
  Npy npy;
  const std::regex form(
      R"(\{'descr': '<u4', 'fortran_order': False, 'shape': \((\d+), (\d+), (\d+)\), \} *\n)");
  if (!std::regex_match(text, parts, form)) {
    ADD_FAILURE() << text;
    return npy;
  }
  for (int i = 1; i <= 3; ++i) npy.shape.push_back(std::stoll(parts[i]));
  npy.values.resize((bytes.size() - 10 - head) / 4);
  std::memcpy(npy.values.data(), bytes.data() + 10 + head, npy.values.size() * 4);
  return npy;
}

TextureSettings with_cells() {
  TextureSettings settings;
  settings.operators = {LbpOperator(), LbpOperator(16, 2)};
  settings.mapping = LbpMapping::rotation_uniform;  // 10 and 18 bins
  settings.cell = 4;
  return settings;
}

// A number that says where it belongs.
std::uint32_t value_at(std::int64_t row, std::int64_t column, int channel, int op, int bin) {
  return static_cast<std::uint32_t>((((row * 100 + column) * 10 + channel) * 10 + op) * 100 + bin);
}

void fill(TextureOutput& output, std::int64_t row, std::int64_t column, Size cells, int channel) {
  output.cells = cells;
  for (int op = 0; op < 2; ++op) {
    OperatorCounts& counts = output.operators.emplace_back();
    for (int y = 0; y < cells.height; ++y) {
      for (int x = 0; x < cells.width; ++x) {
        for (int bin = 0; bin < (op == 0 ? 10 : 18); ++bin)
          counts.cells.push_back(value_at(row + y, column + x, channel, op, bin));
      }
    }
  }
}

TEST(TextureCells, TilesInAnyOrderMakeOneArray) {
  const test::TempDir folder;
  const std::string file = folder / "cells.npy";
  CellsFile cells(file, with_cells(), 2, 5, 3);
  // Tiles of 2x2 cells; the last ones are smaller.
  for (const int tile : {3, 0, 5, 1, 4, 2}) {
    const std::int64_t column = tile % 3 * 2, row = tile / 3 * 2;
    const Size size{column == 4 ? 1 : 2, row == 2 ? 1 : 2};
    TextureOutput one, two;
    fill(one, row, column, size, 0);
    fill(two, row, column, size, 1);
    const TextureOutput* const channels[] = {&one, &two};
    cells.write(column, row, channels);
  }
  EXPECT_FALSE(fs::exists(file)) << "it is not whole";
  cells.finish();
  const Npy npy = load_npy(file);
  EXPECT_EQ(npy.shape, (std::vector<std::int64_t>{3, 5, 56}));
  EXPECT_EQ(cells.features(), 56);
  std::vector<std::uint32_t> expected;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 5; ++column) {
      for (int channel = 0; channel < 2; ++channel) {
        for (int op = 0; op < 2; ++op) {
          for (int bin = 0; bin < (op == 0 ? 10 : 18); ++bin)
            expected.push_back(value_at(row, column, channel, op, bin));
        }
      }
    }
  }
  EXPECT_EQ(npy.values, expected);
}

TEST(TextureCells, NothingIsLeftOfAFileThatIsNotFinished) {
  const test::TempDir folder;
  { CellsFile cells(folder / "cells.npy", with_cells(), 1, 5, 3); }
  EXPECT_TRUE(fs::is_empty(folder.path()));
  test::expect_error(ExitCode::failed, "'/nowhere/cells.npy'",
                     [] { CellsFile("/nowhere/cells.npy", with_cells(), 1, 5, 3); });
}

TEST(TextureCells, FullDisksAreNoticed) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  test::expect_error(ExitCode::failed, [] { CellsFile("/dev/full", with_cells(), 1, 5, 3); });
}

}  // namespace
}  // namespace sightline::texture
