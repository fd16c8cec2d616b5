// The WebSocket to the server that this page came from; comes back by itself, more patiently each time.

const FIRST_DELAY = 250;
const LONGEST_DELAY = 5000;

export class Connection {
  /** @param {(message: object) => void} onMessage  @param {(state: string) => void} onState */
  constructor(onMessage, onState) {
    this.onMessage = onMessage;
    this.onState = onState;
    this.delay = FIRST_DELAY;
    this.open();
    // A laptop that wakes up, or a tab that comes back, should not wait for the rest of the delay.
    for (const event of ["online", "visibilitychange"]) {
      (event === "online" ? window : document).addEventListener(event, () => this.retryNow());
    }
  }

  open() {
    this.timer = undefined;
    this.socket = new WebSocket(`ws://${location.host}/socket`);
    this.socket.addEventListener("open", () => {
      this.delay = FIRST_DELAY;
      this.onState("connected");
    });
    this.socket.addEventListener("message", (event) => this.onMessage(JSON.parse(event.data)));
    this.socket.addEventListener("close", () => this.wait());
  }

  wait() {
    this.onState("disconnected");
    this.timer = setTimeout(() => this.open(), this.delay);
    this.delay = Math.min(this.delay * 1.6, LONGEST_DELAY);
  }

  retryNow() {
    if (this.timer !== undefined && document.visibilityState === "visible") {
      clearTimeout(this.timer);
      this.open();
    }
  }

  send(command) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(command));
    return true;
  }
}
