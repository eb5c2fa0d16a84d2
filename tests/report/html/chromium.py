"""A real browser for tests of pages: headless Chromium, spoken to through two pipes in its DevTools protocol."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_SECONDS = 40.0


def executable() -> str | None:
    """The browser on this machine, or None."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Page:
    """The only page of a browser."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._buffer = b""
        self._count = 0
        self._session: str | None = None
        self.requests: list[str] = []
        self.errors: list[str] = []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._ask(f"{domain}.enable")

    def look(self, width: int, height: int = 900, *, dark: bool = False, touch: bool = False) -> None:
        """A window of another size, or another preference of colours."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1}
        self._ask("Emulation.setDeviceMetricsOverride", **size, mobile=touch)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._ask("Emulation.setEmulatedMedia", features=features)

    def open(self, path: Path) -> None:
        """Load a file and wait until its scripts have drawn."""
        self._ask("Page.navigate", url=path.resolve().as_uri())
        self.wait("document.readyState === 'complete'")
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page."""
        options = {"returnByValue": True, "awaitPromise": True}
        answer = self._ask("Runtime.evaluate", expression=expression, **options)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Until an expression is true."""
        deadline = time.monotonic() + _SECONDS
        while not self.evaluate(condition):
            assert time.monotonic() < deadline, f"not in time: {condition}"
            time.sleep(0.02)

    def click(self, selector: str) -> None:
        """A click of the mouse on the middle of an element, wherever that is."""
        place = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); "
            "e.scrollIntoView({block: 'center', behavior: 'instant'}); "
            "const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; })()"
        )
        event = {"x": place[0], "y": place[1], "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self._ask("Input.dispatchMouseEvent", type=kind, **event)

    def picture(self, path: Path) -> None:
        """The whole page as PNG."""
        made = self._ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(made["data"]))

    def _ask(self, method: str, **parameters: Any) -> Any:
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._hear(answer)

    def _hear(self, event: dict[str, Any]) -> None:
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(event["params"]["request"]["url"])
        elif event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(event["params"]["exceptionDetails"])[:600])
        elif event.get("method") == "Log.entryAdded":
            self.errors.append(event["params"]["entry"]["text"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._read, 1 << 16)
            assert part, "the browser has ended"
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(text))


@contextmanager
def browser(program: str) -> Iterator[Page]:
    """A browser with an empty profile, ended afterwards."""
    to_browser, ours_out = os.pipe()
    ours_in, from_browser = os.pipe()
    # The browser reads its commands from file 3 and answers to file 4.
    script = f'exec 3<&{to_browser} 4>&{from_browser}; exec "$@"'
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe"]
        started = subprocess.Popen(
            ["bash", "-c", script, "browser", program, *options, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        try:
            yield Page(ours_out, ours_in)
        finally:
            os.close(ours_out)
            os.close(ours_in)
            started.terminate()
            started.wait(20)
