// Chains of operations, each of which needs the result of the one before. If a compiler could combine
// operations with one operand, two operands alternate.

#define CHAIN(name, type, steps)                                                          \
  kernel void name(global type* restrict result, int turns, type x, type b) {             \
    for (int turn = 0; turn < turns; ++turn) {                                            \
      TIMES16(steps steps steps steps)                                                    \
    }                                                                                     \
    result[0] = x;                                                                        \
    result[1] = b;                                                                        \
  }

// 128 operations a turn.
CHAIN(uint_add, uint, x += b; b += x;)
CHAIN(uint_subtract, uint, x -= b; b -= x;)
CHAIN(uint_multiply, uint, x *= b; b *= x;)
CHAIN(int_divide, int, x = b / x; x = b / x;)
CHAIN(float_add, float, x = x + b; x = x + b;)
CHAIN(float_subtract, float, x = x - b; x = x - b;)
CHAIN(float_multiply, float, x = x * b; x = x * b;)
CHAIN(float_divide, float, x = b / x; x = b / x;)
