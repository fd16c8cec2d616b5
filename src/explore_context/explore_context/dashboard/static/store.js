// What the server told us: one object per robot, sections replaced as a whole, series extended.

const FIRST_LIMIT = 2000; // rows of a series that the server begins while the page is open, as in series.py

export class Store {
  constructor() {
    this.mode = {};
    this.robots = new Map();
  }

  /** Takes in one message of the server; returns the names of the robots that changed. */
  apply(message) {
    if (message.type === "snapshot") this.robots = new Map();
    if (message.mode) this.mode = message.mode;
    const changed = Object.keys(message.robots || {});
    for (const name of changed) this.merge(name, message.robots[name]);
    if (changed.length) this.robots = new Map([...this.robots].sort(([a], [b]) => a.localeCompare(b)));
    return changed;
  }

  merge(name, changes) {
    const robot = this.robots.get(name) || { series: {} };
    const { series = {}, ...sections } = changes;
    Object.assign(robot, sections);
    for (const [key, change] of Object.entries(series)) {
      if (change.set) robot.series[key] = { rows: change.set, limit: change.limit };
      else extend((robot.series[key] ??= { rows: [], limit: FIRST_LIMIT }), change.add);
    }
    this.robots.set(name, robot);
  }
}

function extend(series, rows) {
  series.rows.push(...rows);
  if (series.rows.length > series.limit) series.rows.splice(0, series.rows.length - series.limit);
}

/** Columns for a chart: rows [[x, a, b], ...] -> [[x...], [a...], [b...]], at least `width` of them. */
export function columns(series, width) {
  const rows = series ? series.rows : [];
  return Array.from({ length: width }, (_, k) => rows.map((row) => row[k] ?? null));
}
