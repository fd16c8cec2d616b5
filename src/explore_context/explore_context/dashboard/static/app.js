// The page: takes in what the server sends and shows the chosen robot, at most once per frame.

import { ActionChart, BeliefChart, EntropyChart, LatencyChart } from "./charts.js";
import { Connection } from "./connection.js";
import { Controls } from "./controls.js";
import { Scene } from "./scenes.js";
import { Store } from "./store.js";
import { onThemeChange } from "./theme.js";

const byId = (id) => document.getElementById(id);
const TOAST_TIME = 6000;

const store = new Store();
const scene = new Scene(byId("scene"), byId("scene-legend"));
const charts = [
  new EntropyChart(byId("entropy-chart")), new LatencyChart(byId("latency-chart")),
  new ActionChart(byId("plan-chart")), new BeliefChart(byId("belief")),
];
let chosen = decodeURIComponent(location.hash.slice(1));
let frame = 0;
let toastTimer;
const opened = new Set(); // nodes whose numbers are unfolded; the rows themselves come and go

const connection = new Connection(receive, showConnection);
const controls = new Controls((command) => connection.send(command), () => chosen, complain);

function receive(message) {
  if (message.type === "reply") {
    if (!message.ok) complain(message.message);
    return;
  }
  store.apply(message);
  if (!frame) frame = requestAnimationFrame(render);
}

function render() {
  frame = 0;
  if (!store.robots.has(chosen) && store.robots.size) chosen = [...store.robots.keys()][0];
  const robot = store.robots.get(chosen);
  byId("waiting").hidden = Boolean(robot);
  byId("robot").hidden = !robot;
  showAccess();
  showTabs();
  controls.update(store.mode, robot);
  if (!robot) return;
  showNumbers(robot);
  showNodes(robot);
  scene.update(robot);
  for (const chart of charts) chart.update(robot);
}

function choose(name) {
  chosen = name;
  history.replaceState(null, "", `#${encodeURIComponent(name)}`);
  render();
}

// -- header ----------------------------------------------------------------------------------------------------------

function showConnection(state) {
  const chip = byId("connection");
  chip.dataset.state = state;
  chip.textContent = state;
  document.body.classList.toggle("stale", state !== "connected");
}

function showAccess() {
  const { kind, control } = store.mode;
  const word = kind === "replay" ? "replay" : control ? "control" : "read-only";
  const chip = byId("access");
  chip.hidden = kind === undefined;
  chip.textContent = word;
  chip.dataset.state = word;
  for (const row of document.querySelectorAll(".control-key")) row.hidden = !control || kind === "replay";
  for (const row of document.querySelectorAll(".replay-key")) row.hidden = kind !== "replay";
}

function showTabs() {
  const list = byId("tabs");
  const names = [...store.robots.keys()];
  if (list.dataset.names !== names.join(" ")) {
    list.dataset.names = names.join(" ");
    list.replaceChildren(...names.map(makeTab));
  }
  for (const tab of list.children) {
    const selected = tab.dataset.robot === chosen;
    tab.setAttribute("aria-selected", String(selected));
    tab.tabIndex = selected ? 0 : -1;
    if (selected) byId("robot").setAttribute("aria-labelledby", tab.id);
  }
}

function makeTab(name, index) {
  const tab = document.createElement("button");
  Object.assign(tab, { type: "button", id: `tab-${index}`, textContent: name === "/" ? "robot" : name.slice(1) });
  tab.dataset.robot = name;
  tab.setAttribute("role", "tab");
  tab.setAttribute("aria-controls", "robot");
  tab.addEventListener("click", () => choose(name));
  return tab;
}

function moveTab(offset) {
  const names = [...store.robots.keys()];
  choose(names[(names.indexOf(chosen) + offset + names.length) % names.length]);
  byId("tabs").querySelector('[aria-selected="true"]').focus();
}

// -- numbers and nodes -----------------------------------------------------------------------------------------------

const text = (id, value) => {
  const element = byId(id);
  if (element.textContent !== value) element.textContent = value;
};
const fixed = (value, digits = 2) => (value === null || value === undefined ? "–" : value.toFixed(digits));

function showNumbers(robot) {
  const { belief, info, plan, state } = robot;
  const status = robot.online === false ? "offline" : belief ? belief.status : "no belief";
  text("status", status);
  byId("status").dataset.state = status;
  text("entropy", fixed(belief?.entropy));
  text("gained", fixed(belief?.gained));
  text("expected", belief?.status === "calibrating" ? fixed(plan?.expected ?? belief.expected) : "–");
  text("transitions", belief ? String(belief.transitions) : "–");
  text("rollout", state ? `rollout ${state.rollout}, step ${state.step}` : "seen");
  const late = plan && info && info.mode === "realtime" && plan.seconds > info.period;
  text("latency", plan?.seconds ? fixed(1000 * plan.seconds, plan.seconds < 0.01 ? 1 : 0) : "–");
  byId("latency").dataset.level = late ? "error" : "ok";
  text("deadline", info ? `ms of ${fixed(1000 * info.period, 0)} ms` : "ms");
  text("system-note", info ? `${info.plant}, ${info.mode}` : "");
  text("session-note", [info && `session ${info.session.slice(0, 8)}`, belief && `model ${belief.model.slice(0, 8)}`,
    info?.commander && `commanded by ${info.commander}`].filter(Boolean).join(" · "));
}

function showNodes(robot) {
  const key = JSON.stringify([robot.nodes, robot.faults, chosen]);
  if (byId("nodes").dataset.key === key) return;
  byId("nodes").dataset.key = key;
  byId("nodes").replaceChildren(...(robot.nodes ?? []).map(makeNodeRow));
  const faults = robot.faults ?? [];
  text("fault-count", String(faults.length));
  byId("fault-count").dataset.state = faults.length ? "warning" : "ok";
  byId("faults").replaceChildren(...[...faults].reverse().map((fault) => {
    const item = document.createElement("li");
    item.textContent = `${fault.node}: ${fault.message}`;
    return item;
  }));
}

function makeNodeRow(node) {
  const row = document.createElement("tr");
  const name = document.createElement("th");
  name.scope = "row";
  name.textContent = node.name;
  const state = document.createElement("td");
  const word = node.level === "ok" ? node.lifecycle || "ok" : node.level;
  const chip = Object.assign(document.createElement("span"), { className: "chip", textContent: word });
  chip.dataset.state = word;
  state.append(chip);
  const report = document.createElement("td");
  const details = document.createElement("details");
  details.open = opened.has(node.name);
  details.addEventListener("toggle", () => opened[details.open ? "add" : "delete"](node.name));
  const summary = Object.assign(document.createElement("summary"), { textContent: node.message || "no report" });
  const values = Object.assign(document.createElement("div"), { className: "values" });
  values.textContent = Object.entries(node.values).map(([key, value]) => `${key} ${value}`).join(" · ");
  details.append(summary, values);
  report.append(details);
  row.append(name, state, report);
  return row;
}

// -- the rest --------------------------------------------------------------------------------------------------------

function complain(message) {
  const toast = byId("toast");
  toast.textContent = message;
  toast.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { toast.hidden = true; }, TOAST_TIME);
}

byId("help-button").addEventListener("click", () => byId("help").showModal());
byId("tabs").addEventListener("keydown", (event) => {
  const offset = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (offset) moveTab(offset);
});
document.addEventListener("keydown", (event) => {
  const name = [...store.robots.keys()][Number(event.key) - 1];
  if (name && !event.target.closest("input, select, dialog")) choose(name);
});
onThemeChange(() => scene.request());
