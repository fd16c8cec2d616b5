// Buttons and keys: starting, cancelling and repeating calibrations, new systems, replay.

const byId = (id) => document.getElementById(id);

export class Controls {
  /** @param {(command: object) => boolean} send  @param {() => string} robot  @param {(text: string) => void} complain */
  constructor(send, robot, complain) {
    Object.assign(this, { robot, last: null, mode: {}, dragging: false });
    this.send = (command) => send(command) || complain("Not connected: nothing was sent.");
    this.form = byId("control-form");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.start();
    });
    byId("cancel").addEventListener("click", () => this.send({ command: "cancel", robot: this.robot() }));
    byId("repeat").addEventListener("click", () => this.repeat());
    byId("new-system").addEventListener("click", () => this.send({ command: "new_system", robot: this.robot() }));
    this.connectPlayback();
    this.connectKeys();
  }

  start() {
    const fields = new FormData(this.form);
    const whole = (name, otherwise) => (fields.get(name) === "" ? otherwise : Number.parseInt(fields.get(name), 10));
    this.last = {
      command: "calibrate",
      scheme: fields.get("scheme"),
      planner: fields.get("planner"),
      transitions: whole("transitions", 0),
      rollouts: whole("rollouts", 0),
      seed: whole("seed", -1),
    };
    this.send({ ...this.last, robot: this.robot() });
  }

  repeat() {
    if (this.last) this.send({ ...this.last, robot: this.robot() });
    else this.start();
  }

  connectPlayback() {
    const playback = (fields) => this.send({ command: "playback", ...fields });
    byId("play").addEventListener("click", () => playback({ playing: !this.mode.playing }));
    byId("restart").addEventListener("click", () => playback({ playing: true, position: 0 }));
    byId("speed").addEventListener("change", (event) => playback({ speed: Number(event.target.value) }));
    byId("position").addEventListener("input", () => { this.dragging = true; });
    byId("position").addEventListener("change", (event) => {
      this.dragging = false;
      playback({ position: Number(event.target.value) });
    });
  }

  connectKeys() {
    const press = (id) => () => {
      const button = byId(id);
      if (button.offsetParent !== null && !button.disabled) button.click();
    };
    const keys = {
      s: press("start"), c: press("cancel"), r: press("repeat"), n: press("new-system"), " ": press("play"), "?": press("help-button"),
    };
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest("input, select, button, summary, a, dialog");
      if (event.ctrlKey || event.metaKey || event.altKey || (typing && event.key !== "?")) return;
      if (keys[event.key]) {
        event.preventDefault();
        keys[event.key]();
      }
    });
  }

  /** Show what may be done now. */
  update(mode, robot) {
    this.mode = mode;
    const replay = mode.kind === "replay";
    byId("control").hidden = replay || !mode.control;
    byId("playback").hidden = !replay;
    byId("robot").classList.toggle("plain", !replay && !mode.control);
    if (replay) this.updatePlayback(mode);
    if (!robot) return;
    const running = robot.belief?.status === "calibrating" || ["sending", "running"].includes(robot.goal?.state);
    byId("start").disabled = running;
    byId("repeat").disabled = running;
    byId("cancel").disabled = !running;
    byId("goal").textContent = robot.goal ? `${robot.goal.state}${robot.goal.message ? `: ${robot.goal.message}` : ""}` : "";
  }

  updatePlayback(mode) {
    byId("play").textContent = mode.playing ? "Pause" : "Play";
    const speed = byId("speed");
    if (![...speed.options].some((option) => Number(option.value) === mode.speed)) speed.add(new Option(`${mode.speed}×`, mode.speed));
    speed.value = String(mode.speed);
    const position = byId("position");
    position.max = mode.duration;
    if (!this.dragging) position.value = mode.position;
    byId("position-text").textContent = `${mode.position.toFixed(1)} of ${mode.duration.toFixed(1)} s`;
    byId("recording").textContent = mode.recording ?? "";
  }
}
