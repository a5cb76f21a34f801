"""Who can talk to the viewer, and what it takes: over sockets, as a page, a foreign page or anything else would."""

import socket
import time
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest

import stiction as st
from stiction.errors import ModelError, StictionError

viser = pytest.importorskip("viser", reason="the viewer needs viser: pip install stiction[view]")
msgspec = pytest.importorskip("msgspec")
client = pytest.importorskip("websockets.sync.client")

from stiction.view.web import guard as web_guard  # noqa: E402
from stiction.view.web.viewer import Viewer  # noqa: E402

PROTOCOL = f"viser-v{viser.__version__}"
CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": [1, 0, 0, 0], "position": [0, 0, 1.5], "fov": 0.7, "near": 0.01, "far": 100,
    "image_height": 800, "image_width": 1280, "look_at": [0, 0, 0], "up_direction": [0, 1, 0],
}  # fmt: skip


@pytest.fixture(scope="module")
def run():
    world = st.PlanarWorld(gravity=(0.0, -9.81))
    world.add_plane(normal=(0.0, 1.0), offset=0.0)
    world.add_body(st.Disk(0.1), name="disk", mass=2.0, position=(0.0, 0.1))
    return st.Simulator(world, dt=0.005).run(0.05)


@pytest.fixture
def viewer(run):
    with Viewer(run, port=8310) as viewer:
        yield viewer


def answer(viewer, host="localhost:{port}", origin=None, token=None, cookie=None, socket_wanted=False, path="/"):
    """Status and headers of what a raw request gets."""
    lines = [f"GET {path}{'' if token is None else f'?token={token}'} HTTP/1.1"]
    if host is not None:
        lines.append("Host: " + host.format(port=viewer.port))
    if origin is not None:
        lines.append("Origin: " + origin.format(port=viewer.port))
    if cookie is not None:
        lines.append(f"Cookie: other=1; stiction-{viewer.port}={cookie}")
    if socket_wanted:
        lines += ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"]
        lines += ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", f"Sec-WebSocket-Protocol: {PROTOCOL}"]
    with socket.create_connection(("127.0.0.1", viewer.port), timeout=10) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        said = b""
        while b"\r\n\r\n" not in said:
            more = connection.recv(65536)
            assert more, "the server has said nothing"
            said += more
    status, *headers = said.split(b"\r\n\r\n")[0].decode().split("\r\n")
    return int(status.split()[1]), dict(line.split(": ", 1) for line in headers)


def page(viewer):
    """A socket as the page has it."""
    token = viewer.guard.token
    return client.connect(
        f"ws://localhost:{viewer.port}", origin=f"http://localhost:{viewer.port}", subprotocols=[PROTOCOL],
        additional_headers={"Cookie": f"stiction-{viewer.port}={token}"}, max_size=None, compression=None,
    )  # fmt: skip


def send(connection, *messages):
    for message in messages:
        connection.send(msgspec.msgpack.encode(message))


def moved(control, value):
    return {"type": "GuiUpdateMessage", "uuid": control._impl.uuid, "updates": {"value": value}}


def controls(viewer):
    return {handle.label: handle for handle in viewer.server.gui._gui_input_handle_from_uuid.values()}


def wait_for(true, seconds=10.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.01)


def test_only_the_viewers_own_page_with_its_token_gets_in(viewer):
    token = viewer.guard.token
    own = {"origin": "http://localhost:{port}", "cookie": token}
    assert urlsplit(viewer.url).query == f"token={token}"

    def opened(**request):
        return answer(viewer, socket_wanted=True, **{**own, **request})[0]

    assert opened() == 101
    assert opened(cookie=None, token=token) == 101
    assert opened(origin=None) == 101  # no browser leaves it out
    for host in ("127.0.0.1:{port}", "[::1]:{port}", "LOCALHOST:{port}"):
        assert opened(host=host, origin=f"http://{host}") == 101
    for origin in ("http://evil.example", "http://localhost:3000", "https://localhost:{port}", "null", ""):
        assert opened(origin=origin) == 403, origin
    for host in ("evil.example:{port}", "localhost", "localhost:1", "localhost:{port}.evil.example", ""):
        assert opened(host=host, origin=f"http://{host}") == 403, host
    assert opened(host=None) != 101
    assert opened(cookie=None) == 403
    for wrong in ("", "x" * len(token), token[:-1], token + "x", "\u00e9"):
        assert opened(cookie=wrong) == 403
        assert opened(cookie=None, token=wrong) == 403


def test_the_page_and_its_cookie_are_for_who_has_the_token(viewer):
    token = viewer.guard.token
    status, headers = answer(viewer, token=token)
    assert status == 200
    assert headers["Set-Cookie"] == f"stiction-{viewer.port}={token}; Path=/; HttpOnly; SameSite=Strict"
    assert answer(viewer, cookie=token)[0] == 200  # reloaded without the address
    for request in (
        {}, {"token": "wrong"}, {"token": token, "host": "evil.example:{port}"},
        {"token": token, "origin": "http://evil.example"}, {"token": token + "&websocket=ws://evil.example"},
        {"token": "wrong", "path": "/index.html"},
    ):  # fmt: skip
        status, headers = answer(viewer, **request)
        assert status == 403, request
        assert "Set-Cookie" not in headers


def test_the_browser_of_a_live_run_is_opened_with_the_token(monkeypatch, capsys):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    world = st.PlanarWorld(gravity=(0.0, -9.81))
    world.add_body(st.Disk(0.1), name="disk", mass=2.0, position=(0.0, 0.1))
    with st.Simulator(world, dt=0.005).view(0.02, port=8340, open_browser=True) as viewer:
        assert opened == [viewer.url]
        assert viewer.url in capsys.readouterr().out
        assert answer(viewer, token=opened[0].partition("token=")[2])[0] == 200


def test_no_message_opens_a_tunnel(viewer, monkeypatch):
    asked = []
    monkeypatch.setattr(viser.ViserServer, "request_share_url", lambda *given, **options: asked.append("share"))
    monkeypatch.setattr(viser._viser, "ViserTunnel", lambda *given: asked.append("tunnel"))
    with page(viewer) as connection:
        send(connection, CAMERA, {"type": "ShareUrlRequest"}, {"type": "ShareUrlDisconnect"})
        send(connection, moved(controls(viewer)["Arrows"], 2.0))
        wait_for(lambda: viewer.scene.arrows == 2.0)  # what came after has been worked off
    assert asked == []


def test_controls_take_what_they_allow(viewer):
    inputs = controls(viewer)
    frame, arrows, speed, body = (inputs[name] for name in ("Frame", "Arrows", "Speed", "Body"))
    box, through = inputs["Joints"], inputs["See through bodies"]
    last = len(viewer.reel) - 1
    with page(viewer) as connection:
        send(connection, CAMERA, moved(arrows, 1e300), moved(frame, 1e300))
        wait_for(lambda: viewer.scene.arrows == 5.0 and viewer.frame == last)
        send(connection, moved(arrows, -1e300), moved(frame, -5), moved(frame, 3.2))
        wait_for(lambda: viewer.scene.arrows == 0.1 and frame.value == 3)
        for wrong in (float("nan"), float("inf"), "3", True, None, [1.0], {"a": 1}):
            send(connection, moved(arrows, wrong), moved(frame, wrong))
        send(connection, moved(speed, "1e300"), moved(speed, 2.0), moved(body, "nobody else"), moved(body, 7))
        send(connection, moved(box, "yes"), moved(box, 1e300), moved(inputs["Step"], "<<<"))
        props = {"type": "GuiUpdateMessage", "uuid": arrows._impl.uuid, "updates": {"props": {"max": 9}, "value": 2}}
        send(connection, props, moved(through, True))
        wait_for(lambda: viewer.scene.see_through or through.value)
        assert (arrows.value, frame.value, speed.value, body.value, box.value) == (0.1, 3, "1", "none", True)
        send(connection, moved(speed, "2"), moved(body, "disk"), moved(arrows, 1.3))
        wait_for(lambda: viewer.playhead.speed == 2.0 and viewer.scene.selected == viewer.stage.names.index("disk"))
        wait_for(lambda: viewer.scene.arrows == 1.3)
    assert viewer._thread.is_alive()


def test_every_control_of_the_panel_is_one_that_the_guard_knows(viewer):
    for control in controls(viewer).values():
        value = control.value
        assert web_guard.allowed(control, value) == value, control.label


def test_what_no_page_sends_is_left_out_with_one_line(viewer, capfd):
    good = msgspec.msgpack.encode(CAMERA)
    click = {
        "type": "SceneNodeClickMessage", "name": "/bodies/0", "instance_index": 10**9, "ray_origin": [0, 0, 0],
        "ray_direction": [0, 0, 1], "screen_pos": [0, 0], "modifier": None, "owner": "",
    }  # fmt: skip
    with page(viewer) as connection:
        connection.send(good)
        for garbage in (b"", b"\xc1", good[:-3], b"\x91" * 5000, bytes(range(256)), "text", b"\xdd\xff\xff\xff\xff"):
            connection.send(garbage)
        send(connection, {}, [], 7, None, {"type": "NoSuchMessage"}, {"type": ["list"]}, {"type": "GuiUpdateMessage"})
        send(connection, {**CAMERA, "image_height": float("nan")}, {**CAMERA, "position": [0, 0]})
        send(connection, {**click, "name": ["unhashable"]}, click, {**click, "instance_index": -3})
        send(connection, {"type": "RunJavascriptMessage", "source": "1"}, {"type": "FileTransferPart"})
        send(connection, {"type": "GuiUpdateMessage", "uuid": "none of these", "updates": {"value": 1}})
        send(connection, moved(controls(viewer)["Arrows"], 3.0))
        wait_for(lambda: viewer.scene.arrows == 3.0)  # and the socket is still open
        connection.send(b"\x00" * (web_guard.MESSAGE_MAX_BYTES + 1))  # ends this socket only
    with socket.create_connection(("127.0.0.1", viewer.port), timeout=10) as raw:
        raw.sendall(b"\x16\x03\x01\x02 this is no HTTP\r\n\r\n")
        while raw.recv(4096):
            pass
    with page(viewer) as connection:
        send(connection, CAMERA, moved(controls(viewer)["Arrows"], 4.0))
        wait_for(lambda: viewer.scene.arrows == 4.0)
    assert viewer.scene.selected is None
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1, said.err
    assert "not its page's" in said.err


def test_a_refusal_is_said_once_without_the_token(viewer, capfd):
    for _ in range(3):
        answer(viewer, origin="http://evil.example\x9b31m", token=viewer.guard.token)
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert "http://evil.example" in said
    assert "\x9b" not in said
    assert viewer.guard.token not in said


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
def test_hosts_of_this_machine_are_not_warned_of(host, capfd):
    try:
        guard = web_guard.Guard(host, 8310)
    except ModelError:
        pytest.skip(f"this machine has no {host}")
    assert capfd.readouterr().err == ""
    assert guard.address(8310).startswith(f"http://{'localhost' if host == '127.0.0.1' else host}:8310/?token=")


def test_a_port_open_to_others_is_said_in_one_line(run, capfd):
    with Viewer(run, port=8320, host="0.0.0.0") as viewer:
        said = capfd.readouterr().err
        assert said.count("\n") == 1
        assert "whoever reaches" in said
        assert viewer.url.startswith(f"http://localhost:{viewer.port}/")
        name = socket.gethostname()
        assert answer(viewer, host=name + ":{port}", token=viewer.guard.token)[0] == 200
        assert answer(viewer, host="evil.example:{port}", token=viewer.guard.token)[0] == 403


@pytest.mark.parametrize("host", ["203.0.113.7", "no such host", "", None, 5])
def test_a_host_that_is_not_here_is_refused_before_anything_is_served(run, host):
    with pytest.raises(ModelError, match="host"):
        Viewer(run, host=host)


def test_a_port_that_there_is_not_is_refused(run):
    with pytest.raises(ModelError, match="port must be between 1 and 65535"):
        Viewer(run, port=70000)


def test_a_viser_that_cannot_be_guarded_is_refused(run, monkeypatch):
    infra, serve = viser.infra._infra, web_guard.sockets.serve
    asyncio = SimpleNamespace(server=SimpleNamespace(serve=serve))
    elsewhere = SimpleNamespace(asyncio=asyncio, exceptions=infra.websockets.exceptions)
    monkeypatch.setattr(infra, "websockets", elsewhere)  # opens its port in another way
    with socket.create_server(("127.0.0.1", 0)) as any_other:
        port = any_other.getsockname()[1]  # free from here on
    with pytest.raises(StictionError, match=r"cannot guard its port with viser .* pip install"):
        Viewer(run, port=port)
    assert web_guard.sockets.serve is serve
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=5)
