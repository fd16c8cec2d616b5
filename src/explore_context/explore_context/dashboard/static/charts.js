// The charts: uPlot with this page's colours, and the belief, which is drawn by hand.

import { color, onThemeChange, prepare } from "./theme.js";
import { columns } from "./store.js";

/** A uPlot that fills its element and is made anew when colours or the shape of the data change. */
class Chart {
  constructor(element) {
    this.element = element;
    this.data = null;
    this.plot = null;
    this.key = "";
    onThemeChange(() => this.rebuild());
    new ResizeObserver(() => this.resize()).observe(element);
  }

  /** `key` names the shape: another key, another plot. */
  show(data, key = "") {
    this.data = data;
    if (!this.plot || key !== this.key) {
      this.key = key;
      this.rebuild();
    } else {
      this.plot.setData(data);
    }
  }

  rebuild() {
    if (!this.data) return;
    this.plot?.destroy();
    const { width, height } = this.size();
    this.plot = new uPlot({ width, height, ...this.options() }, this.data, this.element);
  }

  resize() {
    if (this.plot) this.plot.setSize(this.size());
  }

  size() {
    // The legend stands below the plot, inside the element's height.
    return { width: this.element.clientWidth, height: Math.max(80, this.element.clientHeight - 22) };
  }
}

const axis = (extra = {}) => ({
  stroke: color("muted"),
  grid: { stroke: color("grid"), width: 1 },
  ticks: { stroke: color("grid"), width: 1, size: 4 },
  font: '11px system-ui, "DejaVu Sans", sans-serif',
  ...extra,
});

const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000];

const common = () => ({
  axes: [axis({ size: 26, incrs: WHOLE }), axis({ size: 40 })], // steps and counts are whole numbers
  padding: [8, 8, 0, 0],
  cursor: { y: false, drag: { x: false, y: false } },
  legend: { live: false },
});

const stroke = (label, name, extra = {}) => ({ label, stroke: color(name), width: 2, points: { show: false }, ...extra });

const digits = (value, n = 2) => (value === null || value === undefined ? "–" : value.toFixed(n));

/** At least `least` wide, so that a single point has an axis. */
const range = (least) => (_, low, high) => [low ?? 0, Math.max(high ?? 0, (low ?? 0) + least)];

export class EntropyChart extends Chart {
  update(robot) {
    const [n, entropy, gained, expected] = columns(robot.series.belief, 4);
    this.show([n, entropy, gained, expected.map((value) => value || null)]); // 0: no plan yet
  }

  options() {
    const value = (_, v) => digits(v);
    return {
      ...common(),
      scales: { x: { time: false, range: range(5) } },
      series: [
        { label: "transitions" },
        stroke("entropy", "accent", { value }),
        stroke("information gained", "third", { value }),
        stroke("expected from plan", "second", { value, width: 1.5, dash: [5, 4] }),
      ],
    };
  }
}

export class LatencyChart extends Chart {
  update(robot) {
    const [x, seconds] = columns(robot.series.planning, 2);
    this.deadline = 1000 * (robot.info?.period ?? 0);
    this.label = robot.info?.mode === "realtime" ? "deadline" : "control period";
    this.show([x, seconds.map((s) => 1000 * s), x.map(() => this.deadline)], this.label);
  }

  options() {
    return {
      ...common(),
      scales: { x: { time: false, range: range(5) }, y: { range: (_, __, high) => [0, Math.max(1, high ?? 0) * 1.1] } },
      series: [
        { label: "plan" },
        stroke("planning time", "accent", { points: { show: true, size: 4, fill: color("accent") }, width: 1 }),
        stroke(this.label, "error", { dash: [5, 4], width: 1.5 }),
      ],
    };
  }
}

export class ActionChart extends Chart {
  update(robot) {
    const size = robot.info?.action_low?.length ?? 1;
    this.bounds = [Math.min(...(robot.info?.action_low ?? [-1])), Math.max(...(robot.info?.action_high ?? [1]))];
    const past = robot.series.actions?.rows ?? [];
    const plan = this.plan(robot, size);
    const end = Math.max(past.length ? past[past.length - 1][0] + 1 : 0, plan.start + plan.rows.length);
    const first = past.length ? past[0][0] : plan.start;
    const data = Array.from({ length: 1 + 2 * size }, () => []);
    const applied = new Map(past.map((row) => [row[0], row.slice(1)]));
    const planned = new Map(plan.rows.map((row, k) => [plan.start + k, row]));
    // An action holds for its step, so its line goes on to the next one.
    const held = (actions, step, k) => (actions.get(step) ?? actions.get(step - 1))?.[k] ?? null;
    for (let step = first; step <= end; step += 1) {
      data[0].push(step);
      for (let k = 0; k < size; k += 1) {
        data[1 + k].push(held(applied, step, k));
        data[1 + size + k].push(held(planned, step, k));
      }
    }
    this.size_ = size;
    this.show(data, `${size}:${this.bounds}`);
  }

  plan(robot, size) {
    if (!robot.plan || robot.belief?.status !== "calibrating") return { start: 0, rows: [] };
    const start = robot.plan.step + (robot.info?.mode === "realtime" ? 1 : 0);
    const rows = [];
    for (let k = 0; k + size <= robot.plan.actions.length; k += size) rows.push(robot.plan.actions.slice(k, k + size));
    return { start, rows };
  }

  options() {
    const paths = uPlot.paths.stepped({ align: 1 });
    const names = (word) => Array.from({ length: this.size_ }, (_, k) => (this.size_ > 1 ? `${word} ${k + 1}` : word));
    return {
      ...common(),
      scales: { x: { time: false, range: range(5) }, y: { range: () => this.bounds.map((b) => b * 1.05) } },
      series: [
        { label: "step" },
        ...names("applied").map((label) => stroke(label, "third", { paths })),
        ...names("planned").map((label) => stroke(label, "second", { paths, dash: [5, 4] })),
      ],
    };
  }
}

/** One bar per dimension, mean and two standard deviations, before the prior's band. */
export class BeliefChart {
  constructor(canvas) {
    this.canvas = canvas;
    new ResizeObserver(() => this.draw()).observe(canvas);
    onThemeChange(() => this.draw());
  }

  update(robot) {
    this.belief = robot.belief;
    this.draw();
  }

  draw() {
    const { context, width, height } = prepare(this.canvas);
    if (!this.belief) return;
    const { mean, std } = this.belief;
    const reach = Math.max(2.4, ...mean.map((m, k) => Math.abs(m) + 2 * std[k])) * 1.05;
    const [left, bottom] = [30, 20];
    const y = (value) => ((reach - value) / (2 * reach)) * (height - bottom);
    const step = (width - left) / mean.length;
    context.fillStyle = color("prior");
    context.fillRect(left, y(2), width - left, y(-2) - y(2));
    this.scale(context, y, left, width, reach);
    mean.forEach((m, k) => this.bar(context, left + (k + 0.5) * step, Math.min(step * 0.55, 22), y(m), y(m + 2 * std[k]), y(m - 2 * std[k])));
    context.textAlign = "center";
    mean.forEach((_, k) => {
      if (step > 16 || k % 2 === 0) context.fillText(`${k + 1}`, left + (k + 0.5) * step, height - 6);
    });
    const widest = std.indexOf(Math.max(...std));
    this.canvas.setAttribute("aria-label", `Belief in ${mean.length} dimensions; least known is dimension ${widest + 1}, σ ${digits(std[widest])}`);
  }

  scale(context, y, left, width, reach) {
    context.fillStyle = color("muted");
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.strokeStyle = color("grid");
    context.lineWidth = 1;
    for (let value = -Math.floor(reach); value <= reach; value += 1) {
      if (value % 2 && reach > 3) continue;
      context.beginPath();
      context.moveTo(left, y(value));
      context.lineTo(width, y(value));
      context.stroke();
      context.fillText(`${value}`, left - 6, y(value));
    }
    context.textBaseline = "alphabetic";
  }

  bar(context, x, width, middle, top, bottom) {
    context.fillStyle = `rgba(${color("known")}, 0.35)`;
    context.beginPath();
    context.roundRect(x - width / 2, top, width, bottom - top, 3);
    context.fill();
    context.fillStyle = color("accent");
    context.fillRect(x - width / 2, middle - 1.5, width, 3);
    context.fillStyle = color("muted");
  }
}
