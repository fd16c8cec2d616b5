"""The dashboard's web server: a few static files and one WebSocket, in a thread of its own.

Nothing is asked of the network beyond this server, nothing is allowed to the page beyond it (content security
policy), and no foreign page may use the socket: its Origin must be this very host and port, and the Host must
be a name that no attacker can point here.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from pathlib import Path

from aiohttp import WSCloseCode, WSMsgType, web

from explore_context.dashboard.commands import CommandError, Controller, Playback, parse_command
from explore_context.dashboard.hub import Hub, to_json

STATIC = Path(__file__).resolve().parent / "static"
PERIOD = 0.05
_CONTENT_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_LARGEST_MESSAGE = 4096
# A page that is this many updates behind (5 s) is cut off; it reconnects and gets a fresh snapshot.
_MOST_UNSENT = 100
_START_TIMEOUT = 10.0


class DashboardError(RuntimeError):
    """The dashboard cannot be served; the text names the remedy."""


class DashboardServer:
    """Serves a hub; ``controller`` None: the page can only look."""

    def __init__(self, hub: Hub, host: str, port: int, controller: Controller | None = None) -> None:
        self.hub, self.host, self.port = hub, host, port
        self._controller = controller
        self._clients: set[asyncio.Queue[str | None]] = set()
        self._files = {
            path.name: path.read_bytes() for path in STATIC.iterdir() if path.suffix in _CONTENT_TYPES
        }
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="dashboard", daemon=True)
        self._ready = threading.Event()
        self._failure: Exception | None = None

    @property
    def url(self) -> str:
        host = self.host if self.host not in ("0.0.0.0", "::") else socket.gethostname()
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"

    @property
    def clients(self) -> int:
        return len(self._clients)

    def start(self) -> None:
        """Serve from now on; raises DashboardError if the address cannot be had."""
        if not self.host:  # for a socket that is every interface, which nobody asks for by saying nothing
            raise DashboardError("the host is empty; 127.0.0.1 is this machine only, 0.0.0.0 all interfaces")
        self._thread.start()
        if not self._ready.wait(_START_TIMEOUT):
            raise DashboardError("the dashboard's server did not start in time")
        if self._failure is not None:
            reason = getattr(self._failure, "strerror", None) or self._failure
            raise DashboardError(
                f"cannot serve on {self.host}:{self.port} ({reason}); is another dashboard running there? "
                f"Choose another port (0: any free one)"
            )

    def stop(self) -> None:
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(timeout=3.0)

    # -- the server's thread ------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception as error:  # a port out of range or a host that is none, too
            self._failure = error
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(middlewares=[self._guard])
        app.router.add_get("/", self._index)
        app.router.add_get("/socket", self._socket)
        app.router.add_get("/{name}", self._file)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await runner.setup()
        try:
            site = web.TCPSite(runner, self.host, self.port)
            await site.start()
            self.port = runner.addresses[0][1]
            self._ready.set()
            ticking = asyncio.create_task(self._tick())
            await self._stop.wait()
            ticking.cancel()
            self._send_to_all(None)
        finally:
            await runner.cleanup()

    async def _tick(self) -> None:
        while True:
            self.hub.apply()
            message = self.hub.take_changes()
            if message is not None:
                self._send_to_all(message)
            await asyncio.sleep(PERIOD)

    def _send_to_all(self, message: str | None) -> None:
        for queue in list(self._clients):
            if message is None or queue.qsize() >= _MOST_UNSENT:
                self._clients.discard(queue)
                queue.put_nowait(None)
            else:
                queue.put_nowait(message)

    # -- requests -----------------------------------------------------------------------------------------

    @web.middleware
    async def _guard(self, request: web.Request, handler: web.Handler) -> web.StreamResponse:
        if not _is_our_name(request.host, self.host, self.port):
            raise web.HTTPForbidden(text="unknown host name", headers=_HEADERS)
        try:
            response = await handler(request)
        except web.HTTPException as error:
            error.headers.update(_HEADERS)
            raise
        return response

    async def _index(self, request: web.Request) -> web.Response:
        return self._static("index.html")

    async def _file(self, request: web.Request) -> web.Response:
        return self._static(request.match_info["name"])

    def _static(self, name: str) -> web.Response:
        if name not in self._files:
            raise web.HTTPNotFound(text="not found")
        kind = _CONTENT_TYPES[Path(name).suffix]
        return web.Response(body=self._files[name], content_type=kind, charset="utf-8", headers=_HEADERS)

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Origin") != f"http://{request.host}":
            raise web.HTTPForbidden(text="foreign origin")
        socket_ = web.WebSocketResponse(heartbeat=20.0, max_msg_size=_LARGEST_MESSAGE, compress=False)
        await socket_.prepare(request)
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        # Between this snapshot and the registration nothing else runs, so no update is missed or seen twice.
        self.hub.apply()
        pending = self.hub.take_changes()
        if pending is not None:
            self._send_to_all(pending)
        queue.put_nowait(self.hub.snapshot())
        self._clients.add(queue)
        sender = asyncio.create_task(_send(queue, socket_))
        try:
            async for message in socket_:
                if message.type is WSMsgType.TEXT:
                    queue.put_nowait(self._answer(message.data))
        finally:
            self._clients.discard(queue)
            sender.cancel()
        return socket_

    def _answer(self, text: str) -> str:
        try:
            command = parse_command(text)
            if self._controller is None:
                raise CommandError("this dashboard is read-only; start it with dashboard_control:=true")
            if not isinstance(command, Playback) and not self.hub.knows(command.robot):
                raise CommandError(f"there is no robot {command.robot}")
            self._controller.submit(command)
        except CommandError as error:
            return to_json({"type": "reply", "ok": False, "message": str(error)})
        return to_json({"type": "reply", "ok": True, "message": ""})


async def _send(queue: asyncio.Queue[str | None], socket_: web.WebSocketResponse) -> None:
    while True:
        message = await queue.get()
        if message is None:
            await socket_.close(code=WSCloseCode.GOING_AWAY)
            return
        try:
            await socket_.send_str(message)
        except ConnectionError:
            return


def _is_our_name(host: str, own: str, port: int) -> bool:
    """Whether a Host header names this server: its port, and an address, localhost, the machine's name or
    its ``own``."""
    name, separator, given_port = host.rpartition(":")
    if not separator or name.endswith(":") or host.endswith("]"):
        name, given_port = host, "80"
    if given_port != str(port):
        return False
    if name.lower() in ("localhost", socket.gethostname().lower(), own.lower()):
        return True
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
