#!/usr/bin/python3
"""What scikit-image's local binary patterns make of pictures of textures, by the protocol of
`sightline evaluate texture`: tiles 1, 3, 5... of each picture are known, the others are taken for what is nearest.

Needs Debian's python3-skimage. Run it as: texture_skimage.py FOLDER [SIDE]

Or compares codes: texture_skimage.py --codes PICTURE SIGHTLINE tells, for several circles, how many of a picture's
labels the program SIGHTLINE makes otherwise than scikit-image.
"""

import itertools
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import skimage.io
from PIL import Image
from skimage.feature import local_binary_pattern

# Methods and their bins: "uniform" is riu2, "nri_uniform" u2, "ror" ri (its codes stay as they are), "default" plain.
BINS = {
    "default": lambda points: 2**points,
    "ror": lambda points: 2**points,
    "uniform": lambda points: points + 2,
    "nri_uniform": lambda points: points * (points - 1) + 3,
}
CIRCLES = {
    "default": [(8, 1), (8, 2), (8, 3)],
    "ror": [(8, 1), (8, 2), (8, 3)],
    "uniform": [(8, 1), (8, 2), (8, 3), (16, 2), (16, 3), (16, 4), (24, 3)],
    "nri_uniform": [(8, 1), (8, 2), (8, 3), (16, 2), (16, 3), (16, 4)],
}


def histogram(tile, method, points, radius):
    """Shares of the pixels whose neighbours all lie in the tile."""
    codes = local_binary_pattern(tile, points, radius, method)
    inside = codes[radius:-radius, radius:-radius].astype(int)
    counts = numpy.bincount(inside.ravel(), minlength=BINS[method](points))
    return counts / inside.size


def chi_square(queries, known):
    apart = numpy.empty((len(queries), len(known)))
    for i, query in enumerate(queries):
        sums = query + known
        sums[sums == 0] = 1
        apart[i] = ((query - known) ** 2 / sums).sum(axis=1)
    return apart


def compare_codes(picture, program):
    pixels = numpy.asarray(Image.open(picture).convert("L"))
    with tempfile.TemporaryDirectory() as folder:
        gray = pathlib.Path(folder) / "gray.png"
        Image.fromarray(pixels).save(gray)
        for points, radius in [(8, 1), (8, 1.5), (8, 2), (16, 2), (24, 3)]:
            methods = {"uniform": "riu2"} | ({"default": "plain"} if points == 8 else {})
            for method, mapping in methods.items():
                labels = pathlib.Path(folder) / "labels.tif"
                subprocess.run([program, "-q", "texture", gray, "--operator", f"{points},{radius}", "--mapping", mapping,
                                "--border", "skip", "--labels", labels, "-o", f"{folder}/x.json"], check=True,
                               stdout=subprocess.DEVNULL)
                reach = int(numpy.ceil(radius))
                codes = local_binary_pattern(pixels, points, radius, method)[reach:-reach, reach:-reach]
                others = numpy.mean(skimage.io.imread(labels) != codes)
                print(f"{points},{radius} {method}: {100 * others:.3f}% differ")


def main():
    if sys.argv[1] == "--codes":
        compare_codes(sys.argv[2], sys.argv[3])
        return
    folder = pathlib.Path(sys.argv[1])
    side = int(sys.argv[2]) if len(sys.argv) > 2 else 128
    tiles, labels, order = [], [], []
    files = sorted(file for file in folder.iterdir() if file.is_file())
    for label, file in enumerate(files):
        pixels = numpy.asarray(Image.open(file).convert("L"))
        rows, columns = pixels.shape[0] // side, pixels.shape[1] // side
        for index, (row, column) in enumerate(itertools.product(range(rows), range(columns))):
            tiles.append(pixels[row * side:(row + 1) * side, column * side:(column + 1) * side])
            labels.append(label)
            order.append(index)
    labels, known = numpy.array(labels), numpy.array(order) % 2 == 0
    print(f"{len(files)} textures, {known.sum()} known tiles of {side}x{side} and {(~known).sum()} others")
    distances = {}
    for method, circles in CIRCLES.items():
        for circle in circles:
            start = time.process_time()
            features = numpy.array([histogram(tile, method, *circle) for tile in tiles])
            seconds = time.process_time() - start
            distances[method, circle] = (chi_square(features[known], features[known]),
                                         chi_square(features[~known], features[known]))
            print(f"  {method} {circle}: {seconds:.1f} s", flush=True)
    results = []
    for method, circles in CIRCLES.items():
        for count in (1, 2, 3):
            for chosen in itertools.combinations(circles, count):
                among = sum(distances[method, circle][0] for circle in chosen)
                numpy.fill_diagonal(among, numpy.inf)
                others = sum(distances[method, circle][1] for circle in chosen)
                right_known = (labels[known][among.argmin(axis=1)] == labels[known]).mean()
                right = (labels[known][others.argmin(axis=1)] == labels[~known]).mean()
                results.append((right_known, right, method, chosen))
    # Stable: of those equally good on the known tiles, the first that was tried stands first.
    results.sort(key=lambda one: -one[0])
    print("known tiles, each against the others; the other tiles; method; circles")
    for right_known, right, method, chosen in results:
        if len(chosen) == 1 or right_known == results[0][0]:
            print(f"{100 * right_known:6.2f}% {100 * right:6.2f}%  {method} {chosen}")


if __name__ == "__main__":
    main()
