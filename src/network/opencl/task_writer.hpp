#pragma once
/// Writes the text of a task.

#include <functional>
#include <string>

#include "network/opencl/task_source.hpp"

namespace sightline::nn {

/// Steps of each kind are in files of their own: task_products.cpp, task_windows.cpp, task_folds.cpp and
/// task_whole.cpp.
class TaskWriter {
 public:
  TaskWriter(const SourceContext& context, const Task& task, const TaskTile& tile)
      : context_(context), task_(task), tile_(tile) {}
  TaskSource write();

 private:
  // --- arguments and data
  std::string argument(std::int64_t value);
  // Places of added floats and numbers; quads are aligned.
  std::int64_t add_weights(const std::vector<float>& values);
  std::string table(const std::vector<std::int32_t>& numbers);
  void read_ahead(std::int64_t first);
  std::int64_t start_of(int tensor) const;
  const LocalPlace* local(int tensor) const;

  // --- reading
  std::string text_of_points(const PointForm& form);
  // Chooses a run by a variable below its end.
  static std::string choice(const DeviceOperand& operand, const std::string& variable, std::int64_t divisor,
                            const std::function<std::string(const ChannelRun&)>& text);
  std::string quad_of_run(const ChannelRun& run, const std::string& q);
  std::string channel_of_run(const ChannelRun& run, const std::string& c);
  // A place and a step by channel; steps of local memory are negative.
  std::string listed(const DeviceOperand& operand, const std::string& c);
  std::string elements(const DeviceOperand& operand, const std::string& c);
  std::string constant(const DeviceOperand& operand, const std::string& q, bool is_quad);
  std::string channel(const DeviceOperand& operand, const std::string& c);
  // Four channels of a point; those behind the last one are any.
  std::string quad(const DeviceOperand& operand, const std::string& q);
  // The same with 0 behind the last one.
  std::string filled_quad(const DeviceOperand& operand, const std::string& q);

  // --- writing
  void store(int tensor, const std::string& value, std::int64_t channels);
  std::string place_in(const OutputPlace& place, const std::string& c);
  void store_channel(int tensor, const std::string& value, const std::string& c);
  // Computes the step's Map of a float4 `v`, and stores the results.
  void finish(const TaskStep& one);
  void write_map(const TaskStep& one, const GraphNode& map, const std::vector<DeviceOperand>& operands);

  // --- steps
  void pixel();
  void begin_quads(const TaskStep& one);
  void end_quads();
  void add_step(const TaskStep& one);

  // --- windows and products
  // Declares row and column of a tap, from `ox` and `oy`.
  static std::string tap(const TaskStep& one, const std::string& row, const std::string& column);
  // What of an operand lies at (x, y), which may be outside.
  std::string inside(const TaskStep& one, const std::string& value, const std::string& outside,
                     const std::string& to);
  // [taps * columns][lanes], where columns of a tap are a multiple of four.
  std::int64_t product_weights(const TaskStep& one);
  std::string start(const TaskStep& one);
  void add_product(const TaskStep& one);
  // Adds all columns to the sums. A chunk that is staged at once is some taps, or some columns of a tap.
  void add_chunks(const TaskStep& one, const ProductTile& product, const std::string& weights, bool is_first);
  // Sums of a work-item: of some outputs of some points.
  static std::string type_of_sums(const ProductTile& product);
  void begin_sums(const ProductTile& product, int first, int pass, int outputs, const std::string& begin);
  void add_columns(const ProductTile& product, const std::string& weights, const std::string& first,
                   const std::string& depth, int lanes);
  void finish_sums(const TaskStep& one, const ProductTile& product, int pass);
  // What of a product's columns is staged at once, as text.
  struct Chunk {
    std::string first_tap, taps, first_column, columns;
  };
  // Columns of some taps, or some columns of one, to local memory.
  void stage(const TaskStep& one, const ProductTile& product, const Chunk& chunk);
  // Weights of outputs [ceil(channels / 16)][rows][16].
  std::string blocked_weights(const TaskStep& one, std::int64_t rows,
                              const std::function<float(std::int64_t channel, std::int64_t row)>& value);
  void add_depthwise(const TaskStep& one);
  // Sums of channels of their own for each output. Convolutions of a map have them by groups.
  void add_grouped(const TaskStep& one);
  void add_window_fold(const TaskStep& one);
  // Whether each window has places side by side of which some lie in the map.
  static bool meets_map(const Window& w, const Pair& sides);
  // Begins a loop over rows or columns of a window: few of them without branches.
  static std::string places_of_window(const TaskStep& one, std::size_t axis, const char* name,
                                      const std::string& side);
  static std::string folded_text(Fold fold, const std::string& a, const std::string& b);
  void add_resample(const TaskStep& one);

  // --- folds
  void add_point_fold(const TaskStep& one);
  void add_map_fold(const TaskStep& one);

  // --- whole tensors
  void add_copy(const TaskStep& one);
  void begin_elements();
  void write_element(const TaskStep& one, const std::string& value);
  // Sets a variable to an element by its number.
  std::string element(const DeviceOperand& operand, const std::string& to, const std::string& number);
  void add_product_of_tensors(const TaskStep& one);
  void add_grid_sample(const TaskStep& one);
  // A place that indices name, which are in range.
  void add_gather(const TaskStep& one);
  // Each element finds its rank.
  void add_top_k(const TaskStep& one);
  // All work-items count for each element of the tile how many stand before it.
  void add_top_k_of_many(const TaskStep& one);

  const SourceContext& context_;
  const Task& task_;
  const TaskTile& tile_;
  int words_ = 1;  ///< of an element
  TaskSource made_;
  std::string text_;
  std::size_t number_ = 0;         ///< of the step
  std::int64_t last_product_ = 0;  ///< its weights
};

}  // namespace sightline::nn
