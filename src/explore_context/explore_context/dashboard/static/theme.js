// Colours and canvases: the style sheet is the one place that knows a colour.

const dark = matchMedia("(prefers-color-scheme: dark)");
const still = matchMedia("(prefers-reduced-motion: reduce)");

export const reducedMotion = () => still.matches;
export const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
export const onThemeChange = (callback) => dark.addEventListener("change", callback);

/** Colour of a known region, 0 (unknown) .. 1 (well known). */
export const known = (share) => `rgba(${color("known")}, ${0.5 * share})`;

/** A context for drawing in CSS pixels on a canvas of the right resolution, cleared. */
export function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const { width, height } = canvas.getBoundingClientRect();
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = '12px system-ui, "DejaVu Sans", sans-serif';
  context.lineCap = "round";
  context.lineJoin = "round";
  return { context, width, height };
}
