"""Plots as SVG: lines over a logarithmic axis of values."""
import html
import math

COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#56B4E9', '#E69F00', '#333333')  # by M. Okabe and K. Ito, 2008
LEFT, TOP, RIGHT, BELOW, LETTER = 74, 30, 20, 56, 7.2


def marks(low, high):
    """Round numbers of a logarithmic axis."""
    steps = (1, 2, 5) if high > 4 * low else (1, 1.5, 2, 3, 4, 5, 7)
    return [times * 10.0 ** power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            for times in steps if low <= times * 10.0 ** power <= high]


def svg(title, x_label, y_label, lines, names=None, width=760, height=380):
    """A picture of lines by name, each a list of (x, y) with y above 0. With `names`, x is a place among these; without,
    x is logarithmic, too."""
    points = [point for line in lines.values() for point in line]
    low, high = min(y for _, y in points) / 1.15, max(y for _, y in points) * 1.15

    def place(value, least, largest, start, end):
        return start + math.log(value / least) / math.log(largest / least) * (end - start)

    def y(value):
        return place(value, low, high, height - BELOW, TOP)

    if names:
        step = (width - LEFT - RIGHT) / len(names)
        x = lambda value: LEFT + step * (value + 0.5)
        x_marks = [(i, name if LETTER * len(name) < step else name[:max(int(step / LETTER) - 1, 1)] + '.')
                   for i, name in enumerate(names)]
    else:
        least, largest = min(x for x, _ in points) / 1.15, max(x for x, _ in points) * 1.15
        x = lambda value: place(value, least, largest, LEFT, width - RIGHT)
        x_marks = [(value, f'{value:g}') for value in marks(least, largest)]
    text = lambda left, top, words, more='': f'<text x="{left:.1f}" y="{top:.1f}" {more}>{html.escape(words)}</text>'
    legend_rows = -(-len(lines) // 3)
    whole = height + 20 * legend_rows
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {whole}" width="{width}" height="{whole}" '
             f'role="img" aria-label="{html.escape(title)}" font-family="sans-serif" font-size="13">',
             '<rect width="100%" height="100%" fill="#ffffff"/>', text(LEFT, 18, title, 'font-weight="bold"')]
    for value, name in x_marks:
        parts.append(f'<path d="M{x(value):.1f} {TOP}V{height - BELOW}" stroke="#dfe3e9"/>')
        parts.append(text(x(value), height - BELOW + 18, name, 'text-anchor="middle"'))
    for value in marks(low, high):
        parts.append(f'<path d="M{LEFT} {y(value):.1f}H{width - RIGHT}" stroke="#dfe3e9"/>')
        parts.append(text(LEFT - 8, y(value) + 4.5, f'{value:,g}', 'text-anchor="end"'))
    for i, (name, line) in enumerate(lines.items()):
        colour = COLOURS[i % len(COLOURS)]
        dash = ('', ' stroke-dasharray="8 4"', ' stroke-dasharray="2 4"')[i // len(COLOURS) % 3]
        path = 'L'.join(f'{x(a):.1f} {y(b):.1f}' for a, b in sorted(line))
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        parts += [f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3" fill="{colour}"/>' for a, b in line]
        left, top = LEFT + i % 3 * (width - LEFT) / 3, height + 20 * (i // 3) + 6
        parts.append(f'<path d="M{left:.1f} {top - 4}h24" stroke="{colour}" stroke-width="2"{dash}/>')
        parts.append(text(left + 30, top, name))
    parts.append(text((LEFT + width - RIGHT) / 2, height - 16, x_label, 'text-anchor="middle"'))
    parts.append(text(18, (TOP + height - BELOW) / 2, y_label,
                      f'text-anchor="middle" transform="rotate(-90 18 {(TOP + height - BELOW) / 2:.1f})"'))
    return '\n'.join(parts) + '\n</svg>\n'
