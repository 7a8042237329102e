#pragma once
/// The primitives that networks consist of: what each computes, to the bit.
///
/// A primitive is a struct with its attributes and three members:
///   kName     for messages
///   infer     types of its outputs, from those of its inputs. Sides may be kUnknown, ranks are always known.
///   Throws
///             Problem if the inputs do not fit.
///   evaluate  the reference: plain loops that define the result. It is called with outputs of the types that
///   `infer`
///             says; those with unknown sides have no elements yet, and `evaluate` allocates them. Throws
///             Problem if values do not fit (an index out of range), or sides that `infer` could not check.
///
/// Inputs are listed as "name [shape]"; those in parentheses may be left out, from the last one on. Axes are
/// from 0 to rank - 1. Sums of products are chains of fused multiply-adds in the order given; nothing else is
/// contracted. The bits of a NaN are not defined. Thread-safety: all members are const and use no shared
/// data.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "network/expression.hpp"
#include "network/tensor.hpp"

namespace sightline::nn {

using Types = std::vector<TensorType>;
using InputTypes = std::span<const TensorType>;
using Inputs = std::span<const Tensor* const>;
using Outputs = std::span<Tensor>;

using Axes = std::vector<std::size_t>;     ///< rising
using Pair = std::array<std::int64_t, 2>;  ///< of rows and of columns

// --- sources

/// Numbers start, start + 1 * step, start + 2 * step...: i * step and the sum are rounded separately;
/// integers wrap. Inputs: (count i64 scalar), where the frame decides it. Outputs: [count], of the type of
/// start and step.
struct Iota {
  Scalar start, step;
  std::int64_t count = 0;  ///< kUnknown: the input
  static constexpr std::string_view kName = "iota";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

/// A side of a tensor, for shapes that the frame decides. Inputs: x. Outputs: i64 scalar.
struct Dimension {
  std::size_t axis = 0;
  static constexpr std::string_view kName = "dimension";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

// --- arithmetic

/// An expression of each element. Operands broadcast by NumPy's rule. Inputs: as the expression's operands.
/// Outputs: as its results, all of the shape that the inputs have together.
struct Map {
  Expression expression;
  static constexpr std::string_view kName = "map";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

enum class Fold : std::uint8_t { sum, product, minimum, maximum };

/// Folds all elements along axes, which stay, as 1. Inputs: x [...], f32 or integers. Outputs: x's type.
///   sum      of f32: lane l of 16 adds, from +0 on, the elements l, l + 16... in row-major order of the
///   reduced axes;
///            then lane l + 8 is added to lane l, then l + 4, l + 2 and l + 1. Integers wrap.
///   product  in row-major order, from 1 on
///   minimum, maximum  as the functions of that name; of nothing: the number that all others replace
struct Reduce {
  Fold fold = Fold::sum;
  Axes axes;
  static constexpr std::string_view kName = "reduce";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

/// Place of the largest or smallest element along an axis, which stays, as 1. NaN counts as larger than all.
/// Inputs: x
/// [...] with at least one element on the axis. Outputs: i64.
struct ArgReduce {
  bool largest = true;
  std::size_t axis = 0;
  bool last = false;  ///< of equal elements, take the last one; else the first one
  static constexpr std::string_view kName = "arg_reduce";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

/// Running sums along an axis: y[i] = x[i] + y[i - 1], where y[-1] is +0. Inputs: x [...], f32 or integers,
/// which wrap.
struct Scan {
  std::size_t axis = 0;
  static constexpr std::string_view kName = "scan";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

/// A window that slides over the last two axes [H, W]. Tap (i, k) of output (y, x) lies at row y * step[0] -
/// before[0]
/// + i * tap_step[0], and so the column.
struct Window {
  Pair kernel{1, 1};
  Pair step{1, 1};
  Pair tap_step{1, 1};  ///< dilation; may be negative
  Pair before{0, 0};    ///< padding above and to the left
  Pair out{0, 0};       ///< sides of the output; what they reach below and to the right is padding, too
  friend bool operator==(const Window&, const Window&) = default;

  std::int64_t position(std::size_t axis, std::int64_t at, std::int64_t tap) const {
    return at * step[axis] - before[axis] + tap * tap_step[axis];
  }
};

/// Folds the taps that lie in the map, over kernel rows, then columns, one after the other. A sum begins with
/// +0. Inputs: x [..., H, W], f32 or integers. Outputs: [..., out].
struct WindowFold {
  Fold fold = Fold::maximum;
  Window window;
  static constexpr std::string_view kName = "window_fold";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

/// Convolution: sum = start[o] or +0, then for kernel rows, kernel columns, input channels of the group: sum
/// = fma(x, w, sum). A tap outside the map is x = +0 and takes part. Inputs, all f32: x [N, C, H, W], weights
/// [O, C / groups, kernel], (start [O]). Outputs: [N, O, out].
struct Convolve {
  Window window;
  std::int64_t groups = 1;
  static constexpr std::string_view kName = "convolve";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

/// Products of matrices: sum = start or +0, then for k: sum = fma(a, b, sum). Inputs, all f32: a [..., M, K],
/// b [..., K, N], (start, which broadcasts to the result). The axes in front broadcast. Outputs: [..., M, N].
struct Product {
  static constexpr std::string_view kName = "product";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

/// Two places of an axis for each place of the result, and the weight of the second.
struct Taps {
  std::vector<std::int32_t> first, second;
  std::vector<float> weight;
  friend bool operator==(const Taps&, const Taps&) = default;
};

/// Resizes the last two axes: columns are mixed, then rows, each as fma(b - a, weight, a). Inputs: x [..., H,
/// W], f32. Outputs: [..., rows, columns].
struct Resample {
  Taps rows, columns;
  static constexpr std::string_view kName = "resample";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

enum class Border : std::uint8_t { zeros, edge };

/// Samples at places that the network computes. Inputs, f32: x [N, C, H, W], not empty; grid [N, h, w, 2] of
/// (column, row) from -1 to 1. Outputs: [N, C, h, w]. The order of operations is in grid_sample.cpp.
struct GridSample {
  bool nearest = false;  ///< else bilinear
  bool aligned = false;  ///< -1 and 1 are centres of the outer elements, else their outer edges
  Border border = Border::zeros;
  static constexpr std::string_view kName = "grid_sample";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

// --- views: other indices of the same elements, of any type

/// The same elements in row-major order. Inputs: x, (sizes i64 [rank], which replaces all sides of kUnknown).
/// Without sizes, one side may be kUnknown: what is left.
struct Reshape {
  Shape shape;
  static constexpr std::string_view kName = "reshape";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

/// Axis i of the output is axis order[i] of the input. Inputs: x.
struct Transpose {
  Axes order;
  static constexpr std::string_view kName = "transpose";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

/// Element i of an axis is element first + i * step of the input. Inputs: x, (places i64 [2, rank]: first and
/// sides, as the frame decides them; they replace those of kUnknown). Without them, a side of kUnknown
/// reaches to the end of the axis in the step's direction, and `first` is at least 0.
struct Slice {
  Shape first, step, shape;
  static constexpr std::string_view kName = "slice";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

/// Repeats axes of side 1, and adds axes in front, up to a shape. Inputs: x, (sizes i64 [rank], which
/// replaces sides of kUnknown). Without sizes, a side of kUnknown is the input's. A side of 1 keeps the
/// input's, as in NumPy's rule.
struct Expand {
  Shape shape;
  static constexpr std::string_view kName = "expand";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

/// Inputs: one or more tensors of equal type and of equal sides but on the axis.
struct Concat {
  std::size_t axis = 0;
  static constexpr std::string_view kName = "concat";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

enum class Padding : std::uint8_t {
  constant,
  edge,     ///< the nearest element
  reflect,  ///< mirrored at the outer elements, as often as needed
  wrap,     ///< repeated
};

/// Adds elements around a tensor. Inputs: x. Without any element on an axis, all paddings are constant.
struct Pad {
  Shape before, behind;  ///< by axis, at least 0
  Padding mode = Padding::constant;
  Scalar value;  ///< of x's type, for Padding::constant
  static constexpr std::string_view kName = "pad";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

// --- places that data decide. Indices are i64 or i32; negative ones count from the end.

/// What an index stands for.
enum class By : std::uint8_t {
  index,    ///< all of its place on the axis
  element,  ///< the element at its own place, but for the axis (GatherElements)
  tuple,    ///< the indices' last axis lists places on the axes from `batch` on (GatherND)
};

/// Reads by index. Inputs: x, indices. Outputs, by index: x's shape with the axis replaced by the indices'
/// shape; by element: the indices' shape; by tuple: the indices' shape without the last axis, then x's axes
/// that are left.
struct Gather {
  By by = By::index;
  std::size_t axis = 0;   ///< of By::index and By::element
  std::size_t batch = 0;  ///< of By::tuple: leading axes that both have
  static constexpr std::string_view kName = "gather";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

enum class Combine : std::uint8_t { replace, add, multiply, minimum, maximum };

/// Copies x, then writes updates by index, in their row-major order. Inputs: x, indices, updates: of x's type
/// and of the shape that Gather would have. Outputs: x's type.
struct Scatter {
  By by = By::element;   ///< element or tuple
  std::size_t axis = 0;  ///< of By::element
  Combine combine = Combine::replace;
  static constexpr std::string_view kName = "scatter";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

/// The largest or smallest elements along an axis, in that order. NaN counts as larger than all; equal
/// elements stand in their order. Inputs: x, f32 or integers; (count i64 scalar). Outputs: values, and their
/// places as i64.
struct TopK {
  std::size_t axis = 0;
  std::int64_t count = 0;  ///< kUnknown: the input
  bool largest = true;
  static constexpr std::string_view kName = "top_k";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

/// ONNX's NonMaxSuppression: of each class, by falling score, boxes that overlap none before them by more
/// than a limit. Inputs: boxes f32 [N, boxes, 4], scores f32 [N, classes, boxes], and scalars: most boxes of
/// a class i64, overlap f32, score f32, above which boxes count. Outputs: i64 [chosen, 3] of (picture, class,
/// box).
struct Suppress {
  bool centred =
      false;  ///< boxes are (x, y, width, height) of the centre, else (y, x, y, x) of any two corners
  static constexpr std::string_view kName = "suppress";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

/// Places of all elements other than 0, in row-major order. Inputs: x of any type. Outputs: i64 [rank,
/// places].
struct NonZero {
  static constexpr std::string_view kName = "nonzero";
  Types infer(InputTypes inputs) const;
  void evaluate(Inputs inputs, Outputs outputs) const;
};

// --- all of them

using Primitive = std::variant<Iota, Dimension, Map, Reduce, ArgReduce, Scan, WindowFold, Convolve, Product,
                               Resample, GridSample, Reshape, Transpose, Slice, Expand, Concat, Pad, Gather,
                               Scatter, TopK, Suppress, NonZero>;

std::string_view name_of(const Primitive& primitive);
/// Types of the outputs. Throws Problem.
Types infer(const Primitive& primitive, InputTypes inputs);
/// The outputs of the reference. Throws Problem.
std::vector<Tensor> evaluate(const Primitive& primitive, Inputs inputs);

}  // namespace sightline::nn
