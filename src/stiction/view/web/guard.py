"""Who may talk to the viewer, and what they may say.

Viser lets in every origin and host name, takes any value for a control, and opens a public tunnel when a page asks for
it. The guard stands before it, in `websockets`' own terms (`process_request`, `create_connection`). Of viser it relies
on this, tried with 1.1.1; pyproject.toml keeps it below 1.2:

- `ViserServer()` starts its port by one call of `websockets.asyncio.server.serve`, and reads connections by `recv`;
- pages send msgpack: a `type`, and the fields of the three classes below;
- `gui._gui_input_handle_from_uuid` holds the controls.

A viser that does otherwise is stopped at once.
"""

from __future__ import annotations

import ipaddress
import logging
import math
import re
import secrets
import socket
import sys
import threading
from functools import partial
from typing import Any
from urllib.parse import parse_qs

import msgspec
import viser
from websockets.asyncio import server as sockets

from ...errors import ModelError, StictionError

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
ALL_HOSTS = ("0.0.0.0", "::")
MESSAGE_MAX_BYTES = 2**16  # bytes of a message; a page's are a few hundred
REFUSED_PARAMETERS = {"websocket", "playbackPath"}  # what would make viser's page listen to another server
_PATCHING = threading.Lock()

Three = tuple[float, float, float]


class ViewerCameraMessage(msgspec.Struct, tag_field="type", tag=True):
    """Where a page looks from."""

    wxyz: tuple[float, float, float, float]
    position: Three
    fov: float
    near: float
    far: float
    image_height: float
    image_width: float
    look_at: Three
    up_direction: Three


class SceneNodeClickMessage(msgspec.Struct, tag_field="type", tag=True):
    """A body was clicked."""

    name: str
    instance_index: int | None
    ray_origin: Three
    ray_direction: Three
    screen_pos: tuple[float, float]
    modifier: str | None
    owner: str = ""


class Updates(msgspec.Struct, forbid_unknown_fields=True):
    """Of a control a page sets the value only."""

    value: bool | float | str


class GuiUpdateMessage(msgspec.Struct, tag_field="type", tag=True):
    """A control was moved."""

    uuid: str
    updates: Updates


MESSAGES = msgspec.msgpack.Decoder(ViewerCameraMessage | SceneNodeClickMessage | GuiUpdateMessage)


class Guard:
    """Lets in who has the token, by the viewer's own names, and passes on what the page's controls can send.

    host: where the server listens; one that others can reach is announced.
    """

    def __init__(self, host: str, port: int):
        public = reachable(host, port)
        self.host, self.token = host, secrets.token_urlsafe(16)
        here = socket.gethostname() if host in ALL_HOSTS else host
        self.names = {*LOCAL_HOSTS, here.lower()}
        self._said: set[str] = set()
        self._controls: dict[str, Any] = {}
        if public:
            self._say(
                "public",
                f"whoever reaches {here} over the network and has the address with its token can look and use the "
                "controls; nothing is encrypted",
            )

    def serve(self, port: int, label: str) -> Any:
        """A viser server behind the guard."""
        original, guarded = sockets.serve, []

        def serve(handler: Any, *where: Any, process_request: Any = None, **options: Any) -> Any:
            if not handler.__module__.startswith("viser."):  # of another thread
                return original(handler, *where, process_request=process_request, **options)
            guarded.append(handler)
            options |= {
                "max_size": MESSAGE_MAX_BYTES,
                "create_connection": partial(_Connection, self),
                "logger": _log(self),
            }
            return original(handler, *where, process_request=partial(self._admit, process_request), **options)

        with _PATCHING:
            sockets.serve = serve  # type: ignore[assignment,misc]
            try:
                server = viser.ViserServer(host=self.host, port=port, label=label, verbose=False)
            finally:
                sockets.serve = original  # type: ignore[misc]
        controls = getattr(server.gui, "_gui_input_handle_from_uuid", None)
        if not guarded or controls is None:
            server.stop()
            raise StictionError(
                f"the viewer cannot guard its port with viser {viser.__version__}; "
                'install the version it knows: pip install "viser>=1.1.1,<1.2".'
            )
        self._controls = controls
        return server

    def address(self, port: int) -> str:
        """Of the page, with the token."""
        name = "localhost" if self.host in ("127.0.0.1", *ALL_HOSTS) else _bracketed(self.host)
        return f"http://{name}:{port}/?token={self.token}"

    def _admit(self, pages: Any, connection: Any, request: Any) -> Any:
        """Answer a request for a page, or None to go on with the handshake of a socket."""
        here, port = connection.local_address[:2]
        cookie = f"stiction-{port}"  # browsers send cookies to all ports of a host
        if wrong := self._wrong(request, here, port, cookie):
            self._say("refused", f"a connection was refused: {wrong}")
            return connection.respond(403, f"Refused: {wrong}. Open the address that the program has printed.\n")
        response = pages(connection, request)
        if response is not None:  # the page's socket has no address of its own to carry the token
            response.headers["Set-Cookie"] = f"{cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        return response

    def _wrong(self, request: Any, here: str, port: int, cookie: str) -> str:
        """What is wrong with a request, or ""."""
        host = ",".join(request.headers.get_all("Host")).lower()
        known = {f"{_bracketed(name)}:{port}" for name in (*self.names, here)}
        if (host if re.search(r":\d+$", host) else f"{host}:80") not in known:
            return f"the host {host[:80]!a} is not this viewer"
        for origin in request.headers.get_all("Origin"):
            if origin.lower() != f"http://{host}":
                return f"the origin {origin[:80]!a} is not this viewer"
        query = parse_qs(request.path.partition("?")[2])
        if not REFUSED_PARAMETERS.isdisjoint(query):
            return "the address leads the page to another server"
        pairs = (pair.strip().partition("=") for part in request.headers.get_all("Cookie") for pair in part.split(";"))
        given = [*query.get("token", []), *(value for name, _, value in pairs if name == cookie)]
        token = self.token.encode()
        if not any(secrets.compare_digest(one.encode(errors="surrogateescape"), token) for one in given):
            return "the address has no token, or that of another run"
        return ""

    def passed(self, raw: bytes) -> bytes | None:
        """A message with what its control allows, or None for one that is not a page's."""
        try:
            message = MESSAGES.decode(raw)
            if isinstance(message, GuiUpdateMessage):
                message.updates.value = allowed(self._controls.get(message.uuid), message.updates.value)
            elif not all(map(math.isfinite, _numbers(message))):
                raise ValueError("a number that is not finite")
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            self._say("message", f"a message that is not its page's was left out ({error})")
            return None
        return msgspec.msgpack.encode(message)

    def _say(self, kind: str, what: str) -> None:
        """Once of each kind."""
        if kind not in self._said:
            self._said.add(kind)
            print(f"stiction: the viewer: {what}", file=sys.stderr, flush=True)


class _Connection(sockets.ServerConnection):
    """A socket of which viser reads only what the guard lets pass."""

    def __init__(self, guard: Guard, *given: Any, **options: Any):
        super().__init__(*given, **options)
        self._guard = guard

    async def recv(self, decode: bool | None = None) -> Any:
        """The next message of the page."""
        while True:
            message = self._guard.passed(await super().recv(decode=False))
            if message is not None:
                return message


def allowed(control: Any, value: Any) -> Any:
    """The value of a control that is nearest to what a page has sent; ValueError where there is none."""
    if isinstance(control, viser.GuiSliderHandle) and type(value) in (int, float) and math.isfinite(value):
        return min(max(value, control.min), control.max)
    if isinstance(control, viser.GuiDropdownHandle | viser.GuiButtonGroupHandle) and value in control.options:
        return value
    if isinstance(control, viser.GuiCheckboxHandle | viser.GuiButtonHandle) and isinstance(value, bool):
        return value
    kind = type(control).__name__.removeprefix("Gui").removesuffix("Handle")
    raise ValueError("there is no such control" if control is None else f"not a value of a {kind}: {value!a:.80}")


def reachable(host: str, port: int) -> bool:
    """Whether others can reach a host of this machine; ModelError where it is none."""
    if not isinstance(host, str) or not host:
        raise ModelError(f'host must be a name or an address of this machine, such as "127.0.0.1"; got {host!r}.')
    if not 1 <= port <= 65535:
        raise ModelError(f"port must be between 1 and 65535; got {port}.")
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)
        for family, *_, address in found:
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.bind(address)
    except (OSError, UnicodeError) as error:
        raise ModelError(f"host={host!r} is no name or address of this machine ({error}).") from error
    return not all(ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback for *_, address in found)


def _bracketed(host: str) -> str:
    """As addresses write it."""
    return f"[{host}]" if ":" in host else host


def _numbers(message: Any) -> list[float]:
    """All that are in a message."""
    fields = msgspec.structs.astuple(message)
    flat = [x for field in fields for x in (field if isinstance(field, tuple) else (field,))]
    return [x for x in flat if isinstance(x, (int, float))]


def _log(guard: Guard) -> logging.Logger:
    """Of the server: one line without a traceback; none for connections that end before they have asked."""

    class OneLine(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "handshake" not in record.getMessage():
                error = record.exc_info[1] if record.exc_info else ""
                guard._say("log", f"{record.getMessage()} ({type(error).__name__}: {error})")

    log = logging.Logger("stiction viewer", logging.ERROR)
    log.addHandler(OneLine())
    return log
