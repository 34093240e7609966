"""A real browser without a window, spoken to over a pipe in the DevTools protocol."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FOUND = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
"""The browser of this machine; "" for none."""
PATIENCE = 120.0
"""Seconds until an answer that does not come is an error; a busy machine needs many."""
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-extensions", "--disable-background-networking", "--disable-component-update",
    "--remote-debugging-pipe",
)  # fmt: skip


class Browser:
    """One page, with everything that it complained of or asked for."""

    def __init__(self, process: "subprocess.Popen[bytes]", out: int, back: int) -> None:
        self._process = process
        self._out, self._back = out, back
        self._rest = b""
        self._number = 0
        self._session = ""
        self.errors: list[str] = []
        """What the console shows as an error, and exceptions that nobody caught."""
        self.asked: list[str] = []
        """Addresses of all requests."""
        self.loaded = 0
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        found = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """The answer to one command; events on the way are noted."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def open(self, path: Path, fragment: str = "") -> None:
        """Load a file, until its script has drawn it."""
        before = self.loaded
        self.call("Page.navigate", url=path.as_uri() + fragment)
        while self.loaded == before:
            self._next()
        self.until("document.documentElement.dataset.ready === '1'")

    def value(self, expression: str) -> Any:
        """What JavaScript gives for an expression."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait for an expression to come true."""
        end = time.monotonic() + PATIENCE
        while not self.value(expression):
            assert time.monotonic() < end, f"never came true: {expression}"
            time.sleep(0.02)

    def click(self, selector: str) -> None:
        """Press the mouse in the middle of an element, wherever it is on the page."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.value(f"{element}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        self._drawn()
        found = self.value(
            f"(() => {{ const r = {element}.getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent",
                type=kind, x=found[0], y=found[1], button="left", clickCount=1,
            )  # fmt: skip

    def _drawn(self) -> None:
        """Wait until the page is seen as it is now: what is drawn anew meanwhile takes no click."""
        frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        self.call("Runtime.evaluate", expression=frames, awaitPromise=True)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.call("Input.insertText", text=text)

    def press(self, key: str) -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            text = {"text": key} if len(key) == 1 and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **text)

    def look(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Change the window and what the system prefers."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """Keep what is seen as a PNG file."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))

    def _next(self) -> Any:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._back], [], [], max(0.0, end - time.monotonic()))
            part = os.read(self._back, 1 << 16) if ready else b""
            assert part, "the browser does not answer"
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, found: Any) -> None:
        match method:
            case "Page.loadEventFired":
                self.loaded += 1
            case "Runtime.exceptionThrown":
                self.errors.append(json.dumps(found["exceptionDetails"]))
            case "Runtime.consoleAPICalled":
                self.errors.append(json.dumps(found["args"]))
            case "Log.entryAdded":
                self.errors.append(found["entry"]["text"])
            case "Network.requestWillBeSent":
                self.asked.append(found["request"]["url"])


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser of its own, ended afterwards."""
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    theirs = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (to_read, from_write)]

    def connect() -> None:
        os.dup2(theirs[0], 3)
        os.dup2(theirs[1], 4)

    process = subprocess.Popen(
        [FOUND, *FLAGS, f"--user-data-dir={profile}"],
        preexec_fn=connect,  # no other thread runs
        close_fds=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for end in (to_read, from_write, *theirs):
        os.close(end)
    try:
        yield Browser(process, to_write, from_read)
    finally:
        process.kill()
        process.wait()
        os.close(to_write)
        os.close(from_read)


@contextmanager
def content(found: Browser) -> Iterator[Browser]:
    """The browser, wide and with nothing noted; inside it must find nothing to complain of."""
    found.errors.clear()
    found.asked.clear()
    found.look(1280)
    yield found
    assert found.errors == []
    assert all(url.startswith(("file:", "data:")) for url in found.asked), found.asked


class Pages:
    """Writes pages into a folder and opens them."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser = browser
        self._folder = folder
        self._count = 0

    def written(self, page: bytes, fragment: str) -> Browser:
        """The browser with one page open."""
        self._count += 1
        path = self._folder / f"{self._count}.html"
        path.write_bytes(page)
        self.browser.open(path, fragment)
        return self.browser
