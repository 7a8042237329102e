// Einsum as transpositions, products of matrices, and sums.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "onnx/operators.hpp"

namespace sightline::nn {
namespace {

// A tensor with a label for each axis: a letter, or for axes of an ellipsis a digit, from the last one on.
struct Labelled {
  int tensor = kNone;
  std::string labels;
};

bool has_label(const std::string& labels, char label) {
  return labels.find(label) != std::string::npos;
}

// Labels of both, each once.
std::string joined_labels(std::string labels, const std::string& more) {
  for (const char label : more) {
    if (!has_label(labels, label)) labels += label;
  }
  return labels;
}

constexpr std::string_view kEllipsis = "...";

// Letters of a term.
std::size_t letters_in(const std::string& term) {
  return term.size() - (term.find(kEllipsis) == std::string::npos ? 0 : kEllipsis.size());
}

// Labels of a term whose ellipsis stands for so many axes.
std::string labels_of(const std::string& term, std::size_t ellipsis) {
  std::string labels = term;
  const std::size_t at = term.find(kEllipsis);
  std::string places;
  while (ellipsis > 0) places += static_cast<char>('0' + --ellipsis);
  if (at != std::string::npos) labels.erase(at, kEllipsis.size());
  if (!std::ranges::all_of(labels, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }) ||
      std::set(labels.begin(), labels.end()).size() != labels.size())
    throw Problem("has the term '" + term + "', which is not supported");
  if (at != std::string::npos) labels.insert(at, places);
  return labels;
}

// Without an arrow, the result has the ellipsis and the letters that occur once, in alphabetical order.
std::string labels_of_result(const std::vector<std::string>& terms, std::size_t ellipsis) {
  std::map<char, int> counts;
  for (const std::string& term : terms) {
    for (const char letter : labels_of(term, 0)) ++counts[letter];
  }
  std::string labels = labels_of(std::string(kEllipsis), ellipsis);
  for (const auto& [letter, count] : counts) {
    if (count == 1) labels += letter;
  }
  return labels;
}

class Einsum {
 public:
  explicit Einsum(Lowering& c) : c_(c) {
    constexpr std::size_t kLongest = 256;
    std::string text = c.node.text("equation", "");
    std::erase(text, ' ');
    if (text.size() > kLongest) throw Problem("has an equation that is too long");
    const std::size_t arrow = text.find("->");
    std::vector<std::string> terms{""};
    for (const char letter : text.substr(0, arrow)) {
      if (letter == ',') {
        terms.emplace_back();
      } else {
        terms.back() += letter;
      }
    }
    if (terms.size() != c.count())
      throw Problem("has the equation '" + text + "' for " + std::to_string(c.count()) + " inputs");
    std::size_t ellipsis = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) ellipsis = std::max(ellipsis, add_operand(i, terms[i]));
    result_ = arrow == std::string::npos ? labels_of_result(terms, ellipsis)
                                         : labels_of(text.substr(arrow + kArrow.size()), ellipsis);
  }

  int lowered() {
    for (Labelled& one : operands_) drop_repeated_axes(one);
    Labelled all = operands_[0];
    for (std::size_t i = 1; i < operands_.size(); ++i) {
      const std::string needed = needed_behind(i);
      sum_all_but(all, joined_labels(needed, operands_[i].labels));
      sum_all_but(operands_[i], joined_labels(needed, all.labels));
      all = product(all, operands_[i], needed);
    }
    sum_all_but(all, result_);
    for (const char label : result_) {
      if (!has_label(all.labels, label)) throw Problem("has a result that no input has");
    }
    arrange(all, result_);
    return all.tensor;
  }

 private:
  static constexpr std::string_view kArrow = "->";

  // Returns how many axes the term's ellipsis stands for.
  std::size_t add_operand(std::size_t i, const std::string& term) {
    const Shape shape = c_.known_shape(c_.in(i));
    const std::size_t letters = letters_in(term);
    const bool has_ellipsis = term.size() != letters;
    if (letters > shape.size() || (!has_ellipsis && letters != shape.size()))
      throw Problem("has the term '" + term + "' for an input of " + text_of(shape));
    operands_.push_back({c_.in(i), labels_of(term, shape.size() - letters)});
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      std::int64_t& known = sides_.try_emplace(operands_[i].labels[axis], 1).first->second;
      if (known != shape[axis] && known != 1 && shape[axis] != 1)
        throw Problem("has inputs of shapes that do not fit: " + text_of(shape) + " for '" + term + "'");
      known = known == 1 ? shape[axis] : known;
    }
    return shape.size() - letters;
  }

  Shape shape_of(const std::string& labels) const {
    Shape shape;
    for (const char label : labels) shape.push_back(sides_.at(label));
    return shape;
  }
  std::int64_t elements(const std::string& labels) const { return elements_of(shape_of(labels)); }

  // Axes of one place that other operands have in full are left away.
  void drop_repeated_axes(Labelled& one) {
    const Shape shape = c_.shape(one.tensor);
    std::string kept;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == sides_.at(one.labels[axis])) kept += one.labels[axis];
    }
    one = {c_.reshape(one.tensor, shape_of(kept)), kept};
  }

  // Labels that the result or operands behind one have, those of the result first.
  std::string needed_behind(std::size_t i) const {
    std::string needed = result_;
    while (++i < operands_.size()) needed = joined_labels(needed, operands_[i].labels);
    return needed;
  }

  void sum_all_but(Labelled& one, const std::string& needed) {
    Axes axes;
    std::string kept;
    for (std::size_t axis = 0; axis < one.labels.size(); ++axis) {
      if (has_label(needed, one.labels[axis])) {
        kept += one.labels[axis];
      } else {
        axes.push_back(axis);
      }
    }
    if (!axes.empty()) one = {c_.reshape(c_.reduce(Fold::sum, one.tensor, axes), shape_of(kept)), kept};
  }

  // Brings axes into an order.
  void arrange(Labelled& one, const std::string& labels) {
    Axes order;
    for (const char label : labels) order.push_back(one.labels.find(label));
    one = {c_.transpose(one.tensor, order), labels};
  }

  // The sum of products over all labels of both that are not needed.
  Labelled product(Labelled a, Labelled b, const std::string& needed) {
    std::string stack, rows, columns, depth;
    for (const char label : needed) {
      const bool in_a = has_label(a.labels, label), in_b = has_label(b.labels, label);
      if (in_a || in_b) (in_a && in_b ? stack : in_a ? rows : columns) += label;
    }
    for (const char label : a.labels) {
      if (!has_label(needed, label)) depth += label;
    }
    // As the result has them, so that it need not be transposed.
    if (!rows.empty() && !columns.empty() && needed.find(columns[0]) < needed.find(rows[0])) {
      std::swap(a, b);
      std::swap(rows, columns);
    }
    arrange(a, stack + rows + depth);
    arrange(b, stack + depth + columns);
    const std::int64_t count = elements(stack), k = elements(depth);
    const int first = c_.reshape(a.tensor, {count, elements(rows), k});
    const int second = c_.reshape(b.tensor, {count, k, elements(columns)});
    const std::string labels = stack + rows + columns;
    const int made =
        depth.empty() ? c_.map(Function::multiply, {first, second}) : c_.add(Product(), {first, second});
    return {c_.reshape(made, shape_of(labels)), labels};
  }

  Lowering& c_;
  std::vector<Labelled> operands_;
  std::map<char, std::int64_t> sides_;
  std::string result_;
};

}  // namespace

Made lower_einsum(Lowering& c) {
  return Einsum(c).lowered();
}

}  // namespace sightline::nn
