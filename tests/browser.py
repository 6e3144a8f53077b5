"""A browser without a window, driven through a pipe: the few commands that tests of pages need."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One page of a headless Chromium; what its console says is kept in `complaints`."""

    def __init__(self, profile):
        ours, theirs = _pipe(), _pipe()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                 "--disable-background-networking", "--disable-extensions", f"--user-data-dir={profile}"]  # fmt: skip

        def connect():
            os.dup2(theirs[0], 3)
            os.dup2(ours[1], 4)

        self.process = subprocess.Popen(
            [PROGRAM, *flags, "--remote-debugging-pipe", "about:blank"],
            preexec_fn=connect,  # noqa: PLW1509  (nothing else gives a child certain numbers)
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs[0])
        os.close(ours[1])
        self.reader, self.writer = os.fdopen(ours[0], "rb"), os.fdopen(theirs[1], "wb", buffering=0)
        self.number, self.rest, self.complaints, self.requests, self.session = 0, b"", [], [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """Send a command and return its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        self.writer.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def _next(self):
        while b"\0" not in self.rest:
            more = os.read(self.reader.fileno(), 1 << 20)
            assert more, "the browser has gone"
            self.rest += more
        first, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(first)
        name, about = message.get("method"), message.get("params", {})
        if name == "Runtime.exceptionThrown":
            self.complaints.append(about["exceptionDetails"])
        elif name == "Runtime.consoleAPICalled" and about["type"] in {"error", "warning", "assert"}:
            self.complaints.append(about["args"])
        elif name == "Log.entryAdded" and about["entry"]["level"] in {"error", "warning"}:
            self.complaints.append(about["entry"])
        elif name == "Page.javascriptDialogOpening":
            self.complaints.append(about)
        elif name == "Network.requestWillBeSent":
            self.requests.append((about["requestId"], about["request"]["url"]))
        elif name == "Network.loadingFailed" and about.get("blockedReason") == "csp":  # it was never sent
            self.requests = [one for one in self.requests if one[0] != about["requestId"]]
        return message

    def open(self, path):
        """Open a file and wait until it is there."""
        self.complaints.clear()
        self.requests.clear()
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        while self.ask("document.readyState") != "complete" or self.ask("location.protocol") != "file:":
            pass

    def ask(self, expression):
        """Return the value of an expression."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def look(self, path, *, width=1200, height=900, dark=False, phone=False, whole=False):
        """Take a picture of the page."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=whole, **self._clip(width, whole=whole))
        Path(path).write_bytes(base64.b64decode(picture["data"]))

    def _clip(self, width, *, whole):
        if not whole:
            return {}
        height = self.ask("document.documentElement.scrollHeight")
        return {"clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}}

    def printed(self, path):
        """Write the page as a printer would have it."""
        Path(path).write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait(timeout=60)
        self.reader.close()
        self.writer.close()


def _pipe():
    """Return a pipe whose ends are not 3 and 4, which the browser uses."""
    ends = os.pipe()
    moved = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return moved
