// The system itself, drawn: pendulum with its quadrants, car on its terrain, anything else in its state plane.

import { color, known, prepare, reducedMotion } from "./theme.js";

const SETTLE = 0.05; // time constant of the motion between two states, seconds
const WELL_KNOWN = 5; // transitions after which a quadrant has its full shade
const TRAIL = 25;
const SMALLEST = 32; // pixels: margins alone take that much

/** Moves smoothly to each new state and stops drawing once it is there. */
export class Scene {
  constructor(canvas, legend) {
    this.canvas = canvas;
    this.legend = legend;
    this.shown = null;
    this.robot = null;
    this.frame = 0;
    new ResizeObserver(() => this.request()).observe(canvas);
  }

  update(robot) {
    if (this.robot !== robot) this.shown = null;
    this.robot = robot;
    this.request();
  }

  request() {
    if (!this.frame && this.robot) this.frame = requestAnimationFrame((now) => this.draw(now));
  }

  draw(now) {
    this.frame = 0;
    const painter = painterOf(this.robot);
    const target = painter.pose(this.robot);
    const moving = this.follow(target, now, painter.circular);
    const surface = prepare(this.canvas);
    // Before the first layout there is no room to paint in; the ResizeObserver asks again.
    if (Math.min(surface.width, surface.height) > SMALLEST) painter.paint(surface, this.robot, this.shown);
    this.canvas.dataset.pose = (this.shown ?? []).map((value) => value.toFixed(3)).join(" ");
    const text = describe(painter, this.robot);
    if (this.legend.textContent !== text) {
      this.legend.textContent = text;
      this.canvas.setAttribute("aria-label", text);
    }
    if (moving) this.request();
  }

  follow(target, now, circular) {
    const elapsed = Math.min((now - (this.time ?? now)) / 1000, 0.1) || 1 / 60;
    this.time = now;
    if (!target || !this.shown || this.shown.length !== target.length || reducedMotion()) {
      this.shown = target;
      return false;
    }
    const share = 1 - Math.exp(-elapsed / SETTLE);
    const difference = target.map((value, k) => (circular ? wrap(value - this.shown[k]) : value - this.shown[k]));
    const moving = difference.some((value) => Math.abs(value) > 2e-3);
    this.shown = moving ? this.shown.map((value, k) => value + share * difference[k]) : target;
    if (!moving) this.time = undefined;
    return moving;
  }
}

const wrap = (angle) => Math.atan2(Math.sin(angle), Math.cos(angle));

function painterOf(robot) {
  const plant = robot.info?.plant;
  return plant === "pendulum" ? pendulum : plant === "mountain_car" ? car : plane;
}

/** What is known of the system; transitions of the belief that nobody here saw are named, not guessed. */
function describe(painter, robot) {
  const { unseen } = robot.coverage ?? {};
  if (!unseen) return painter.describe(robot);
  const count = `${unseen} transition${unseen === 1 ? "" : "s"}`;
  if (unseen >= (robot.belief?.transitions ?? 0)) return `coverage not seen: ${count} before this view began`;
  return `${painter.describe(robot)}; ${count} not seen here`;
}

const trailOf = (robot) => (robot.series.states?.rows ?? []).slice(-TRAIL);

// -- pendulum: angle 0 is upright, positive counter-clockwise ---------------------------------------------------------

const pendulum = {
  circular: true,

  pose: (robot) => (robot.state ? [Math.atan2(robot.state.observation[1], robot.state.observation[0])] : null),

  describe(robot) {
    const visited = (robot.coverage?.quadrants ?? []).filter((count) => count > 0).length;
    return `${visited} of 4 quadrants explored${robot.info?.hidden_context?.length ? ", true factors shown" : ""}`;
  },

  paint({ context, width, height }, robot, shown) {
    const [cx, cy, radius] = [width / 2, height / 2, Math.min(width, height) / 2 - 14];
    const length = radius * 0.8;
    const tip = (angle, r = length) => [cx - r * Math.sin(angle), cy - r * Math.cos(angle)];
    paintQuadrants(context, cx, cy, radius, robot);
    paintTrail(context, trailOf(robot).map((row) => tip(Math.atan2(row[2], row[1]))));
    labelQuadrants(context, cx, cy, radius, robot);
    if (!shown) return;
    const [x, y] = tip(shown[0]);
    paintTorque(context, cx, cy, radius * 0.22, robot);
    line(context, [[cx, cy], [x, y]], color("text"), Math.max(5, radius * 0.045));
    disc(context, cx, cy, Math.max(4, radius * 0.035), color("text"));
    disc(context, x, y, Math.max(8, radius * 0.085), color("second"));
  },
};

function paintQuadrants(context, cx, cy, radius, robot) {
  const counts = robot.coverage?.quadrants ?? [0, 0, 0, 0];
  counts.forEach((count, k) => {
    const low = -Math.PI + (k * Math.PI) / 2;
    context.beginPath();
    context.moveTo(cx, cy);
    context.arc(cx, cy, radius, -(low + Math.PI / 2) - Math.PI / 2, -low - Math.PI / 2);
    context.closePath();
    context.fillStyle = count ? known(0.25 + 0.75 * Math.min(1, count / WELL_KNOWN)) : color("prior");
    context.fill();
    context.strokeStyle = color("line");
    context.lineWidth = 1;
    context.stroke();
  });
}

function labelQuadrants(context, cx, cy, radius, robot) {
  const counts = robot.coverage?.quadrants ?? [0, 0, 0, 0];
  const factors = robot.info?.hidden_context ?? [];
  context.textAlign = "center";
  context.textBaseline = "middle";
  counts.forEach((count, k) => {
    context.fillStyle = color(count ? "text" : "muted");
    const middle = -0.75 * Math.PI + (k * Math.PI) / 2;
    const [x, y] = [cx - radius * 0.52 * Math.sin(middle), cy - radius * 0.52 * Math.cos(middle)];
    context.fillText(count ? `${count} seen` : robot.coverage?.unseen ? "not seen" : "unknown", x, y - 7);
    if (factors.length === 4) context.fillText(`factor ${factors[k].toFixed(2)}`, x, y + 9);
  });
}

function paintTorque(context, cx, cy, radius, robot) {
  const [action, limit] = [robot.state?.action?.[0], robot.info?.action_high?.[0]];
  if (!action || !limit) return;
  const span = (action / limit) * Math.PI * 0.75;
  const start = -Math.PI / 2;
  context.beginPath();
  context.arc(cx, cy, radius, start, start - span, span > 0); // positive torque turns counter-clockwise
  context.strokeStyle = color("third");
  context.lineWidth = 4;
  context.stroke();
  const end = start - span;
  const [x, y] = [cx + radius * Math.cos(end), cy + radius * Math.sin(end)];
  disc(context, x, y, 5, color("third"));
}

// -- mountain car ----------------------------------------------------------------------------------------------------

const car = {
  circular: false,

  pose: (robot) => (robot.state ? [robot.state.observation[0]] : null),

  describe(robot) {
    const interval = robot.coverage?.interval;
    if (!interval) return "terrain unknown";
    const share = Math.round((50 * (interval[1] - interval[0])));
    const shape = robot.info?.terrain?.length ? "true terrain shown" : "terrain as felt so far";
    return `explored ${interval[0].toFixed(2)} … ${interval[1].toFixed(2)} m (${share} %), ${shape}`;
  },

  paint({ context, width, height }, robot, shown) {
    const ground = robot.info?.terrain?.length ? robot.info.terrain : robot.coverage?.profile ?? [];
    const heights = ground.map((point) => point[1]);
    const [low, high] = [Math.min(0, ...heights), Math.max(0.3, ...heights)];
    const wide = (width - 40) / 2.1;
    const tall = Math.min(1.8 * wide, (height - 110) / (high - low)); // hills a little steeper than they are
    const floor = (height + tall * (high - low)) / 2 + 15;
    const place = (x, h) => [width / 2 + x * wide, floor - (h - low) * tall];
    const at = (x) => interpolate(ground, x);
    paintReach(context, robot, place, at, floor + 22);
    const isTrue = Boolean(robot.info?.terrain?.length);
    paintUnknown(context, ground, place);
    if (ground.length > 1) line(context, ground.map(([x, h]) => place(x, h)), color(isTrue ? "muted" : "accent"), 2.5);
    for (const wall of [-1, 1]) line(context, [[place(wall, low)[0], floor + 22], [place(wall, low)[0], floor - tall * (high - low) - 40]], color("line"), 3);
    if (!shown) return;
    const [x, y] = place(shown[0], at(shown[0]));
    const [left, right] = [place(shown[0] - 0.03, at(shown[0] - 0.03)), place(shown[0] + 0.03, at(shown[0] + 0.03))];
    paintCar(context, x, y, Math.atan2(right[1] - left[1], right[0] - left[0]), robot.state?.action?.[0] ?? 0);
  },
};

/** What lies beyond the ground that is known, up to the walls. */
function paintUnknown(context, ground, place) {
  const ends = ground.length ? [ground[0], ground[ground.length - 1]] : [[0, 0], [0, 0]];
  context.setLineDash([4, 6]);
  ends.forEach(([x, h], side) => line(context, [place(x, h), place(side ? 1 : -1, h)], color("muted"), 1.5));
  context.setLineDash([]);
}

function paintReach(context, robot, place, at, bottom) {
  const interval = robot.coverage?.interval;
  if (!interval) return;
  const xs = Array.from({ length: 60 }, (_, k) => interval[0] + ((interval[1] - interval[0]) * k) / 59);
  context.beginPath();
  context.moveTo(place(interval[0], 0)[0], bottom);
  xs.forEach((x) => context.lineTo(...place(x, at(x))));
  context.lineTo(place(interval[1], 0)[0], bottom);
  context.closePath();
  context.fillStyle = known(0.7);
  context.fill();
}

function paintCar(context, x, y, tilt, action) {
  context.save();
  context.translate(x, y);
  context.rotate(tilt);
  context.fillStyle = color("second");
  context.beginPath();
  context.roundRect(-18, -21, 36, 14, 4);
  context.fill();
  context.fillRect(-9, -28, 17, 8);
  disc(context, -10, -6, 6, color("text"));
  disc(context, 10, -6, 6, color("text"));
  if (action) line(context, [[0, -38], [action * 10, -38]], color("third"), 4);
  context.restore();
}

function interpolate(points, x) {
  if (!points.length) return 0;
  const next = points.findIndex((point) => point[0] >= x);
  if (next <= 0) return points[next === 0 ? 0 : points.length - 1][1];
  const [[x0, h0], [x1, h1]] = [points[next - 1], points[next]];
  return h0 + ((h1 - h0) * (x - x0)) / (x1 - x0);
}

// -- any other system: the plane of its first two observations ---------------------------------------------------------

const plane = {
  circular: false,

  pose: (robot) => robot.state?.observation.slice(0, 2) ?? null,

  describe(robot) {
    const names = robot.info?.observation_names ?? [];
    const hidden = robot.info?.hidden_context ?? [];
    const truth = hidden.length ? `, true context ${hidden.map((value) => value.toFixed(3)).join(", ")}` : "";
    return `${names.slice(0, 2).join(" and ")}${truth}`;
  },

  paint({ context, width, height }, robot, shown) {
    const trail = trailOf(robot).map((row) => [row[1], row[2] ?? 0]);
    const extent = Math.max(1, ...trail.flat().map(Math.abs)) * 1.15;
    const scale = (Math.min(width, height) / 2 - 16) / extent;
    const place = ([x, y = 0]) => [width / 2 + x * scale, height / 2 - y * scale];
    const reach = (Math.min(width, height) / 2 - 16) / scale;
    line(context, [place([-reach, 0]), place([reach, 0])], color("line"), 1);
    line(context, [place([0, -reach]), place([0, reach])], color("line"), 1);
    for (let k = 1; k <= reach; k += 1) ring(context, ...place([0, 0]), k * scale);
    const names = robot.info?.observation_names ?? [];
    context.fillStyle = color("muted");
    context.textAlign = "right";
    context.fillText(names[0] ?? "", place([reach, 0])[0], place([reach, 0])[1] - 8);
    context.fillText(names[1] ?? "", place([0, reach])[0] - 8, place([0, reach])[1] + 8);
    paintTrail(context, trail.map(place), 4);
    if (shown) disc(context, ...place(shown), 8, color("second"));
  },
};

// -- strokes -----------------------------------------------------------------------------------------------------------

function paintTrail(context, points, size = 3) {
  points.forEach(([x, y], k) => {
    context.globalAlpha = 0.1 + (0.6 * k) / points.length;
    disc(context, x, y, size, color("second"));
  });
  context.globalAlpha = 1;
}

function line(context, points, stroke, width) {
  context.beginPath();
  points.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.strokeStyle = stroke;
  context.lineWidth = width;
  context.stroke();
}

function disc(context, x, y, radius, fill) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fillStyle = fill;
  context.fill();
}

function ring(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.strokeStyle = color("grid");
  context.lineWidth = 1;
  context.stroke();
}
