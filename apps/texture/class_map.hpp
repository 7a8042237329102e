#pragma once
/// Map of the classes of a picture's cells, as table and as picture.

#include <cstdint>
#include <string>
#include <vector>

#include "drawing/canvas.hpp"
#include "texture/cell_classifier.hpp"
#include "texture/record.hpp"

namespace sightline::apps {

struct MappedClass {
  std::string name;
  std::size_t known_cells = 0;
  float limit = 0;  ///< distance from which on a cell is no longer of this class
};

/// Classes of the whole cells of a picture.
struct ClassMap {
  static constexpr int kUnknown = -1;

  std::string picture;
  std::string histograms;              ///< TextureRecord::kind
  std::string distance;                ///< name of the distance
  std::int64_t width = 0, height = 0;  ///< pixels
  int left_out = 0;                    ///< x and y of the first cell
  int cell = 0;                        ///< side of a cell in pixels
  std::int64_t columns = 0, rows = 0;
  std::vector<MappedClass> classes;
  std::vector<texture::CellClass> cells;  ///< [row][column]
  std::vector<std::int8_t> labels;        ///< [row][column], index of the class or kUnknown
};

/// Area and typical distance of a class, or of what is unknown.
struct ClassShare {
  std::int64_t cells = 0;
  double share = 0;  ///< of all cells
  float median = 0;  ///< median distance of the cells to the nearest known one; 0 without cells
};
/// Shares of the classes, and of the unknown cells at last.
std::vector<ClassShare> class_shares(const ClassMap& map);

/// Colour of a class or of kUnknown: each of CellClassifier::kMostClasses has its own.
Color class_colour(int label);

/// A table for a terminal: share of the area, cells, limit and median distance of each class.
std::string to_text(const ClassMap& map);

/// Writes tables of the cells row by row; "-" is standard output. Throw Error (failed).
/// CSV has a header and a line a cell: column,row,x,y,class,distance,nearest,second,second_distance.
void write_class_csv(const std::string& file, const ClassMap& map);
/// JSON has the classes with their shares, and an array of rows for each column of the CSV file.
void write_class_json(const std::string& file, const ClassMap& map);

/// A PNG file: the map beside its legend.
std::string draw_class_map(const ClassMap& map);

}  // namespace sightline::apps
