#!/usr/bin/env python3
"""COCO's rule for boxes in plain Python: average precision and recall, from the definition at cocodataset.org.

usage: coco_rule.py TRUTH.json FOUND.jsonl [CLASS,...]

TRUTH.json has COCO's annotations; FOUND.jsonl is written by `sightline detect --detections` for a folder of pictures.
Prints the figures of each class and their means as JSON. `evaluate frames` must give the same.
"""
import collections
import json
import sys

OVERLAPS = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.8999999999999999, 0.95]  # as numpy.linspace rounds them
RECALLS = [i * 0.01 for i in range(101)]
SIZES = {'': (0, 1e10), 's': (0, 1024), 'm': (1024, 9216), 'l': (9216, 1e10)}


def overlap(found, marked):
    (ax, ay, aw, ah), (bx, by, bw, bh) = found['box'], marked['bbox']
    width, height = min(ax + aw, bx + bw) - max(ax, bx), min(ay + ah, by + bh) - max(ay, by)
    if width <= 0 or height <= 0:
        return 0
    common = width * height
    return common / (aw * ah if marked.get('iscrowd') else aw * ah + bw * bh - common)


def judge(found, marked, least, size):
    """The verdict on each detection of an image, best first: True, False, or None if it does not count."""
    low, high = SIZES[size]
    wanted = [not m.get('iscrowd') and low <= m['area'] <= high for m in marked]
    free = [True] * len(marked)
    verdicts = []
    for f in found:
        fits = [(wanted[i], overlap(f, m), i) for i, m in enumerate(marked) if free[i] and overlap(f, m) >= least]
        if fits:
            is_wanted, _, i = max(fits)  # wanted ones first, then the largest overlap, then the last
            free[i] = bool(marked[i].get('iscrowd'))
            verdicts.append(True if is_wanted else None)
        else:
            verdicts.append(False if low <= f['box'][2] * f['box'][3] <= high else None)
    return verdicts, sum(wanted)


def precision_and_recall(images, least, size, most):
    scored, wanted = [], 0
    for found, marked in images:
        best = sorted(found, key=lambda f: -f['score'])[:100]
        verdicts, count = judge(best, marked, least, size)
        wanted += count
        scored += [(f['score'], v) for f, v in list(zip(best, verdicts))[:most]]
    if wanted == 0:
        return None
    points, right, all_found = [], 0, 0
    for _, verdict in sorted(scored, key=lambda s: -s[0]):
        if verdict is None:
            continue
        right += verdict
        all_found += 1
        points.append((right / wanted, right / all_found))
    highest, at, sums = 0, len(points), 0
    for recall in reversed(RECALLS):
        while at > 0 and points[at - 1][0] >= recall:
            at -= 1
            highest = max(highest, points[at][1])
        sums += highest
    return sums / len(RECALLS), right / wanted


def mean(values):
    values = [v for v in values if v is not None]
    return sum(values) / len(values) if values else None


def figures(images):
    def measure(which, size='', most=100, overlaps=OVERLAPS):
        pairs = [precision_and_recall(images, least, size, most) for least in overlaps]
        return mean([p and p[which] for p in pairs])

    return {
        'AP': measure(0), 'AP50': measure(0, overlaps=OVERLAPS[:1]), 'AP75': measure(0, overlaps=OVERLAPS[5:6]),
        'APs': measure(0, 's'), 'APm': measure(0, 'm'), 'APl': measure(0, 'l'),
        'AR1': measure(1, most=1), 'AR10': measure(1, most=10), 'AR100': measure(1),
        'ARs': measure(1, 's'), 'ARm': measure(1, 'm'), 'ARl': measure(1, 'l')}


def main():
    truth = json.load(open(sys.argv[1]))
    marked = collections.defaultdict(list)
    for annotation in truth['annotations']:
        marked[annotation['image_id'], annotation['category_id']].append(annotation)
    ids = {image['file_name'].split('/')[-1]: image['id'] for image in truth['images']}
    frames = [json.loads(line) for line in open(sys.argv[2])]
    classes = {}
    for category in truth['categories']:
        if len(sys.argv) > 3 and category['name'] not in sys.argv[3].split(','):
            continue
        images = [([o for o in frame['objects'] if o['label'] == category['name']],
                   marked[ids[frame['picture']], category['id']]) for frame in frames if frame['picture'] in ids]
        classes[category['name']] = figures(images)
    names = next(iter(classes.values()))
    means = {name: mean([one[name] for one in classes.values()]) for name in names}
    print(json.dumps({'classes': classes, 'mean': means}))


main()
