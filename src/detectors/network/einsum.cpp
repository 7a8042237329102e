// Einsum as transpositions, products of matrices, and sums.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "detectors/network/lowering.hpp"

namespace sightline::network {
namespace {

// A tensor with a label for each axis: a letter, or for axes of an ellipsis a digit, from the last one on.
struct Operand {
  int value = kAbsent;
  std::string labels;
};

bool has_label(const std::string& labels, char label) {
  return labels.find(label) != std::string::npos;
}

// Labels of both, each once.
std::string joined(std::string labels, const std::string& more) {
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
std::string output_of(const std::vector<std::string>& terms, std::size_t ellipsis) {
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

class EinsumLowering {
 public:
  explicit EinsumLowering(const Call& call) : call_(call), body_(call) {
    constexpr std::size_t kLongest = 256;
    std::string text = call.node.text("equation", "");
    std::erase(text, ' ');
    if (text.size() > kLongest) throw Problem("has an equation that is too long");
    const std::size_t arrow = text.find("->");
    std::vector<std::string> terms{""};
    for (const char c : text.substr(0, arrow)) {
      if (c == ',') {
        terms.emplace_back();
      } else {
        terms.back() += c;
      }
    }
    if (terms.size() != call.inputs.size())
      throw Problem("has the equation '" + text + "' for " + std::to_string(call.inputs.size()) + " inputs");
    std::size_t ellipsis = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) ellipsis = std::max(ellipsis, add_operand(i, terms[i]));
    output_ =
        arrow == std::string::npos ? output_of(terms, ellipsis) : labels_of(text.substr(arrow + 2), ellipsis);
  }

  Graph lowered() {
    drop_repeated_axes();
    Operand all = operands_[0];
    for (std::size_t i = 1; i < operands_.size(); ++i) {
      const std::string needed = needed_behind(i);
      sum_all_but(all, joined(needed, operands_[i].labels));
      sum_all_but(operands_[i], joined(needed, all.labels));
      all = product(all, operands_[i], needed);
    }
    sum_all_but(all, output_);
    for (const char label : output_) {
      if (!has_label(all.labels, label)) throw Problem("has a result that no input has");
    }
    arrange(all, output_);
    return body_.done(all.value);
  }

 private:
  // Returns how many axes the term's ellipsis stands for.
  std::size_t add_operand(std::size_t i, const std::string& term) {
    const Shape& shape = call_.real(i).shape();
    const std::size_t letters = letters_in(term);
    const bool has_ellipsis = term.size() != letters;
    if (letters > shape.size() || (!has_ellipsis && letters != shape.size()))
      throw Problem("has the term '" + term + "' for an input of " + text_of(shape));
    operands_.push_back({body_.input(i), labels_of(term, shape.size() - letters)});
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      std::int64_t& known = sides_.try_emplace(operands_[i].labels[axis], 1).first->second;
      if (known != shape[axis] && known != 1 && shape[axis] != 1)
        throw Problem("has inputs of shapes that do not fit: " + text_of(shape) + " for '" + term + "'");
      known = known == 1 ? shape[axis] : known;
    }
    return shape.size() - letters;
  }

  std::int64_t side(char label) const { return sides_.at(label); }
  Shape shape_of(const std::string& labels) const {
    Shape shape;
    for (const char label : labels) shape.push_back(side(label));
    return shape;
  }
  std::int64_t elements(const std::string& labels) const { return elements_of(shape_of(labels)); }

  // Axes of one place that other operands have in full are left away.
  void drop_repeated_axes() {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      Operand& one = operands_[i];
      std::string kept;
      for (std::size_t axis = 0; axis < one.labels.size(); ++axis) {
        if (call_.in(i).dim(axis) == side(one.labels[axis])) kept += one.labels[axis];
      }
      if (kept == one.labels) continue;
      one = {reshaped(one.value, shape_of(kept)), kept};
    }
  }

  // Labels that the result or operands behind one have, those of the result first.
  std::string needed_behind(std::size_t i) const {
    std::string needed = output_;
    while (++i < operands_.size()) needed = joined(needed, operands_[i].labels);
    return needed;
  }

  int reshaped(int value, const Shape& shape) {
    return body_.add("Reshape", {value, body_.wholes(shape)}, {{"allowzero", std::int64_t{1}}});
  }

  void sum_all_but(Operand& one, const std::string& needed) {
    std::vector<std::int64_t> axes;
    std::string kept;
    for (std::size_t axis = 0; axis < one.labels.size(); ++axis) {
      if (has_label(needed, one.labels[axis])) {
        kept += one.labels[axis];
      } else {
        axes.push_back(static_cast<std::int64_t>(axis));
      }
    }
    if (axes.empty()) return;
    one = {body_.add("ReduceSum", {one.value, body_.wholes(axes)}, {{"keepdims", std::int64_t{0}}}), kept};
  }

  // Brings axes into an order.
  void arrange(Operand& one, const std::string& labels) {
    if (one.labels == labels) return;
    std::vector<std::int64_t> order;
    for (const char label : labels) order.push_back(static_cast<std::int64_t>(one.labels.find(label)));
    one = {body_.add("Transpose", {one.value}, {{"perm", order}}), labels};
  }

  // The sum of products over all labels of both that are not needed.
  Operand product(Operand a, Operand b, const std::string& needed) {
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
    const int first = reshaped(a.value, {count, elements(rows), k});
    const int second = reshaped(b.value, {count, k, elements(columns)});
    const std::string labels = stack + rows + columns;
    const int made = body_.add(depth.empty() ? "Mul" : "MatMul", {first, second});
    return {reshaped(made, shape_of(labels)), labels};
  }

  const Call& call_;
  Lowering body_;
  std::vector<Operand> operands_;
  std::map<char, std::int64_t> sides_;
  std::string output_;
};

}  // namespace

std::optional<Graph> lower_einsum(const Call& call) {
  return EinsumLowering(call).lowered();
}

}  // namespace sightline::network
