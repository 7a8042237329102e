"use strict";
// Timelines as swim lanes. The tables, bars and matrices of the page are there without it.
window.onerror = (message) => { document.body.dataset.error = message; };

const data = JSON.parse(document.getElementById("data").textContent);
const tip = document.getElementById("tip");
const kinds = ["decode", "wait", "run", "upload", "download", "output"];
const [DECODE, WAIT, RUN] = [0, 1, 2];
const rowHeight = 16, laneGap = 5, waitHeight = 3, groupHeight = 24, axisHeight = 22;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const ms = (t) => (t >= 100 ? t.toFixed(0) : t >= 10 ? t.toFixed(1) : t.toFixed(2)) + " ms";

function element(tag, attributes = {}, text = "") {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.textContent = text;
  return node;
}

// Spans in lanes: [{group}] or {name, rows, spans, waits, y}. Where spans of a lane overlap, it has several rows.
function layOut(schedule, processors, stages) {
  const lanes = new Map();
  const lane = (order, group, name) => {
    const key = order.join();
    if (!lanes.has(key)) lanes.set(key, {order, group, name, spans: [], waits: [], ends: []});
    return lanes.get(key);
  };
  const all = [];
  for (const [frame, slot, spans] of schedule.frames) {
    const start = Math.min(...spans.map((s) => s[4])), end = Math.max(...spans.map((s) => s[5]));
    if (spans.length) all.push({lane: lane([-1, 0], "Frames", "in flight"), frame, slot, whole: true, start, end});
    for (const [kind, stage, processor, partition, from, to] of spans) {
      const order = [processor, kind === DECODE ? -2 : kind === 3 ? -1 : kind === 4 ? 300 : kind === 5 ? 301 : stage];
      const name = kind === RUN || kind === WAIT ? stages[stage] ?? "stage " + stage : kinds[kind];
      all.push({lane: lane(order, processors[processor] ?? "processor " + processor, name),
                frame, slot, kind, stage, processor, partition, start: from, end: to});
    }
  }
  all.sort((a, b) => a.start - b.start);
  for (const span of all) {
    if (span.kind === WAIT) { span.lane.waits.push(span); continue; }
    const ends = span.lane.ends;
    span.row = ends.findIndex((end) => end <= span.start);
    if (span.row < 0) span.row = ends.length;
    ends[span.row] = span.end;
    span.lane.spans.push(span);
  }
  const ordered = [...lanes.values()].sort((a, b) => a.order[0] - b.order[0] || a.order[1] - b.order[1]);
  let y = axisHeight, group = null;
  for (const l of ordered) {
    if (l.group !== group) { l.heading = y; y += groupHeight; group = l.group; }
    l.y = y;
    l.height = Math.max(l.ends.length, 1) * rowHeight + (l.waits.length ? waitHeight + 1 : 0);
    y += l.height + laneGap;
  }
  const end = all.reduce((t, s) => Math.max(t, s.end), 1);
  return {lanes: ordered, spans: all.filter((s) => !s.whole).length, height: y + 2, end};
}

class Timeline {
  constructor(section, measurement) {
    this.canvas = section.querySelector("canvas");
    this.summary = section.querySelector(".summary");
    this.measurement = measurement;
    this.layouts = measurement.schedules.map((s) => layOut(s, measurement.processors, measurement.stages));
    this.byFrame = true;
    this.pointers = new Map();
    this.buttons(section.querySelector(".zoom"));
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas.parentElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  buttons(place) {
    const group = (items) => {
      const node = place.appendChild(element("span", {class: "group", role: "group"}));
      return items.map(([text, label, action]) => {
        const button = node.appendChild(element("button", {type: "button", title: label, "aria-label": label}, text));
        button.addEventListener("click", () => action(button));
        return button;
      });
    };
    const mode = group([["by frame", "Colour by frame", () => colourBy(true)],
                        ["by stage", "Colour by stage", () => colourBy(false)]]);
    const colourBy = (frame) => {
      this.byFrame = frame;
      mode.forEach((button, i) => button.setAttribute("aria-pressed", (i === 0) === frame));
      this.draw();
    };
    mode[0].setAttribute("aria-pressed", true);
    mode[1].setAttribute("aria-pressed", false);
    group([["−", "Zoom out", () => this.zoom(1.5)], ["+", "Zoom in", () => this.zoom(1 / 1.5)],
           ["fit", "Show all", () => this.fit()]]);
  }

  show(index) {
    this.layout = this.layouts[index];
    this.canvas.style.height = this.layout.height + "px";
    const {frames, name} = this.measurement.schedules[index];
    this.summary.textContent = frames.length
      ? `${frames.length} consecutive frames under ${name}, ${ms(this.layout.end / 1000)}`
      : `no timeline was kept for ${name}`;
    this.canvas.setAttribute("aria-label", `Timeline: ${this.summary.textContent}`);
    // Neighbouring frames are what there is to see: begin with a few, past those that have no neighbours.
    const starts = frames.filter((f) => f[2].length).map((f) => Math.min(...f[2].map((s) => s[4])));
    const some = Math.max(Math.round(this.canvas.clientWidth / 90), 4);
    this.from = starts.length > some + 4 ? starts[4] : 0;
    this.to = starts.length > some + 4 ? starts[some + 4] : this.layout.end;
    this.draw();
  }

  fit() { this.from = 0; this.to = this.layout.end; this.draw(); }

  // Keeps the time under `centre` (0..1 of the view) where it is.
  zoom(factor, centre = 0.5) {
    const length = Math.min(Math.max((this.to - this.from) * factor, 20), this.layout.end);
    const at = this.from + (this.to - this.from) * centre;
    this.move(at - length * centre, length);
  }

  move(from, length = this.to - this.from) {
    this.from = Math.min(Math.max(from, 0), Math.max(this.layout.end - length, 0));
    this.to = this.from + length;
    this.draw();
  }

  get left() { return this.canvas.clientWidth < 500 ? 78 : 112; }
  get width() { return Math.max(this.canvas.clientWidth - this.left - 1, 1); }
  x(time) { return this.left + (time - this.from) / (this.to - this.from) * this.width; }

  colourOf(span) {
    if (this.byFrame || span.whole) return this.palette[1 + span.frame % 9];
    const name = span.kind === RUN || span.kind === WAIT ? this.measurement.stages[span.stage] : kinds[span.kind];
    return this.palette[data.colours[name] ?? 0];
  }

  draw() {
    if (!this.layout || !this.canvas.clientWidth) return;
    const scale = window.devicePixelRatio || 1, width = this.canvas.clientWidth, height = this.layout.height;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    const g = this.g = this.canvas.getContext("2d");
    g.scale(scale, scale);
    g.font = "12px " + getComputedStyle(document.body).fontFamily;
    g.textBaseline = "middle";
    this.palette = Array.from({length: 10}, (_, i) => colour("--c" + i));
    const inks = ["line", "muted", "soft", "ink", "dark-ink"];
    this.ink = Object.fromEntries(inks.map((name) => [name, colour("--" + name)]));
    this.drawAxis(height);
    for (const lane of this.layout.lanes) this.drawLane(lane, width);
  }

  drawAxis(height) {
    const g = this.g, raw = (this.to - this.from) / Math.max(this.width / 90, 1);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((s) => s * power).find((s) => s >= raw);
    g.lineWidth = 1;
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      const x = Math.round(this.x(t)) + 0.5;
      g.strokeStyle = this.ink.line;
      g.beginPath();
      g.moveTo(x, axisHeight - 4);
      g.lineTo(x, height);
      g.stroke();
      g.fillStyle = this.ink.muted;
      const text = +(t / 1000).toPrecision(6) + " ms", half = g.measureText(text).width / 2;
      g.fillText(text, Math.min(Math.max(x, this.left + half), this.left + this.width - half) - half, 8);
    }
  }

  drawLane(lane, width) {
    const g = this.g;
    if (lane.heading !== undefined) {
      g.fillStyle = this.ink.soft;
      g.fillRect(0, lane.heading, width, groupHeight - 5);
      g.fillStyle = this.ink.ink;
      g.font = g.font.replace(/^/, "600 ");
      g.fillText(lane.group, 6, lane.heading + 10);
      g.font = g.font.replace("600 ", "");
    }
    g.fillStyle = this.ink.muted;
    g.save();
    g.beginPath();
    g.rect(0, lane.y, this.left - 6, lane.height);
    g.clip();
    g.fillText(lane.name, 6, lane.y + rowHeight / 2);
    g.restore();
    g.save();
    g.beginPath();
    g.rect(this.left, lane.y, this.width, lane.height);
    g.clip();
    const visible = (span) => span.end > this.from && span.start < this.to;
    for (const span of lane.waits.filter(visible)) {
      g.globalAlpha = this.hovered && this.hovered.frame !== span.frame ? 0.1 : 0.45;
      g.fillStyle = this.colourOf(span);
      const x = this.x(span.start), w = Math.max(this.x(span.end) - x, 1);
      g.fillRect(x, lane.y + lane.height - waitHeight, w, waitHeight);
    }
    for (const span of lane.spans.filter(visible)) this.drawSpan(span, lane);
    g.restore();
  }

  drawSpan(span, lane) {
    const g = this.g, x = this.x(span.start), w = Math.max(this.x(span.end) - x - 0.75, 0.75);
    const y = lane.y + span.row * rowHeight;
    g.globalAlpha = this.hovered && this.hovered.frame !== span.frame ? 0.22 : 1;
    g.fillStyle = this.colourOf(span);
    g.fillRect(x, y, w, rowHeight - 2);
    const from = Math.max(x, this.left), room = Math.min(x + w, this.left + this.width) - from;
    const label = "" + span.frame, size = g.measureText(label).width;
    if (room < size + 4) return;
    g.fillStyle = this.ink["dark-ink"];
    g.fillText(label, from + (room - size) / 2, y + rowHeight / 2 - 0.5);
  }

  spanAt(x, y) {
    if (x < this.left) return null;
    const pixel = (this.to - this.from) / this.width, time = this.from + (x - this.left) * pixel, slack = 1.5 * pixel;
    const lane = this.layout.lanes.find((l) => y >= l.y && y < l.y + l.height);
    if (!lane) return null;
    const row = Math.floor((y - lane.y) / rowHeight), hit = (s) => s.start - slack <= time && time <= s.end + slack;
    const below = row >= lane.ends.length;
    return (below ? lane.waits.find(hit) : lane.spans.find((s) => s.row === row && hit(s))) ?? null;
  }

  hover(event) {
    const box = this.canvas.getBoundingClientRect();
    const span = event && this.spanAt(event.clientX - box.left, event.clientY - box.top);
    tip.hidden = !span;
    if (span) {
      const name = span.whole ? "whole way" : (span.kind === WAIT ? "waits for " : "") + span.lane.name;
      tip.replaceChildren(element("b", {}, `Frame ${span.frame} · ${name}`), element("br"),
        (span.whole ? "" : span.lane.group + " · ") + "slot " + span.slot + (span.partition ? " · device's share" : ""),
        element("br"),
        `from ${ms(span.start / 1000)}, takes ${ms((span.end - span.start) / 1000)}`);
      const right = event.clientX + 14 + tip.offsetWidth > innerWidth;
      const below = event.clientY + 18 + tip.offsetHeight > innerHeight;
      tip.style.left = Math.max(right ? event.clientX - tip.offsetWidth - 10 : event.clientX + 14, 4) + "px";
      tip.style.top = (below ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18) + "px";
    }
    if ((span && span.frame) !== (this.hovered && this.hovered.frame)) { this.hovered = span; this.draw(); }
  }

  listen() {
    const c = this.canvas, share = (event) => (event.clientX - c.getBoundingClientRect().left - this.left) / this.width;
    c.addEventListener("wheel", (event) => {
      const all = this.to - this.from >= this.layout.end;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        this.move(this.from + (event.deltaX || event.deltaY) / this.width * (this.to - this.from));
      } else if (all && event.deltaY > 0) {
        return;  // nothing to zoom out of: the page scrolls
      } else {
        this.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.004), share(event));
      }
      event.preventDefault();
      this.hover(event);
    }, {passive: false});
    c.addEventListener("pointerdown", (event) => {
      c.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, event);
      c.classList.add("dragging");
    });
    c.addEventListener("pointermove", (event) => {
      const before = this.pointers.get(event.pointerId);
      if (!before) return this.hover(event);
      const other = [...this.pointers.values()].find((p) => p.pointerId !== event.pointerId);
      this.pointers.set(event.pointerId, event);
      if (other) {
        const distance = (p) => Math.max(Math.abs(p.clientX - other.clientX), 8);
        this.zoom(distance(before) / distance(event), (share(event) + share(other)) / 2);
      } else {
        this.move(this.from - (event.clientX - before.clientX) / this.width * (this.to - this.from));
      }
    });
    for (const type of ["pointerup", "pointercancel", "pointerleave"]) {
      c.addEventListener(type, (event) => {
        this.pointers.delete(event.pointerId);
        if (!this.pointers.size) c.classList.remove("dragging");
        if (type === "pointerleave") this.hover(null);
      });
    }
    c.addEventListener("keydown", (event) => {
      const length = this.to - this.from;
      const act = {ArrowLeft: () => this.move(this.from - length / 8),
                   ArrowRight: () => this.move(this.from + length / 8),
                   "+": () => this.zoom(1 / 1.5), "=": () => this.zoom(1 / 1.5), "-": () => this.zoom(1.5),
                   Home: () => this.move(0), End: () => this.move(this.layout.end), 0: () => this.fit()}[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
  }
}

// One choice of schedule for the timeline and the matrix of a measurement.
function setUp(section, measurement) {
  if (!measurement?.schedules.length) return 0;
  const timeline = new Timeline(section, measurement);
  const places = [...section.querySelectorAll(".pick")], matrices = [...section.querySelectorAll("figure")];
  const choose = (index) => {
    timeline.show(index);
    matrices.forEach((figure, i) => { figure.hidden = i !== index; });
    for (const place of places) [...place.children].forEach((b, i) => b.setAttribute("aria-pressed", i === index));
  };
  for (const place of places) {
    measurement.schedules.forEach((schedule, i) => {
      place.appendChild(element("button", {type: "button"}, schedule.name)).addEventListener("click", () => choose(i));
    });
    place.hidden = measurement.schedules.length < 2;
  }
  for (const node of section.querySelectorAll("[data-script]")) node.hidden = false;
  choose(measurement.best);
  return timeline.layouts.reduce((sum, layout) => sum + layout.spans, 0);
}

const sections = [...document.querySelectorAll(".measurement")];
const spans = sections.map((section, i) => setUp(section, data.measurements[i])).reduce((a, b) => a + b, 0);
document.body.dataset.spans = spans;
document.body.dataset.ready = "yes";
