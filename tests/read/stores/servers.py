"""What the tests read from: a server that speaks S3, and a web server whose answers have faults."""

from __future__ import annotations

import hashlib
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any
from urllib.parse import unquote

_BUCKETS = count()


class Store:
    """An object store on loopback. ``environment`` tells obstore where it is."""

    scheme: str
    endpoint: str
    environment: dict[str, str]

    def bucket(self, files: Mapping[str, bytes] | None = None) -> str:
        """A new bucket with these objects: its address."""
        name = f"bucket-{next(_BUCKETS)}"
        self.make(name)
        for key, data in (files or {}).items():
            self.put(f"{self.scheme}://{name}/{key}", data)
        return f"{self.scheme}://{name}"

    def make(self, bucket: str) -> None:
        raise NotImplementedError

    def opened(self, bucket: str) -> Any:
        """The bucket as obstore has it, which writes to it here."""
        raise NotImplementedError

    def put(self, address: str, data: bytes) -> None:
        import obstore

        bucket, _, name = address[5:].partition("/")
        obstore.put(self.opened(bucket), name, data)

    def delete(self, address: str) -> None:
        import obstore

        bucket, _, name = address[5:].partition("/")
        obstore.delete(self.opened(bucket), name)

    def close(self) -> None:
        raise NotImplementedError


class S3(Store):
    """moto's server."""

    scheme = "s3"

    def __init__(self) -> None:
        from moto.server import ThreadedMotoServer

        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._server.start()
        host, port = self._server.get_host_and_port()
        self.endpoint = f"http://{host}:{port}"
        self.environment = {
            "AWS_ENDPOINT_URL": self.endpoint, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
        }  # fmt: skip

    def make(self, bucket: str) -> None:
        urllib.request.urlopen(urllib.request.Request(f"{self.endpoint}/{bucket}", method="PUT")).close()

    def opened(self, bucket: str) -> Any:
        from obstore.store import S3Store

        return S3Store(
            bucket, endpoint=self.endpoint, access_key_id="key", secret_access_key="secret", region="us-east-1",
            client_options={"allow_http": True},
        )  # fmt: skip

    def close(self) -> None:
        self._server.stop()


class Web:
    """A web server. ``faults`` has, by path, what becomes of the next requests for bytes of it, one after the other:
    a status (503), ``"cut"`` (the connection ends halfway), ``"short"`` (fewer bytes than were asked for, and it says
    so), or a number of seconds (a float) that the answer takes. ``seen``: those that came, with their ranges.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.faults: dict[str, list[int | float | str]] = {}
        self.seen: list[tuple[str, str, str | None]] = []
        self.at_once = self.most_at_once = 0
        self.pause = 0.0
        self.lock = threading.Lock()
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                web._answer(self)

            def do_HEAD(self) -> None:
                web._answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_: Any) -> None:
                pass  # whoever asked has gone

        self._server = Server(("127.0.0.1", 0), Handler)
        self.root = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def _answer(self, to: BaseHTTPRequestHandler) -> None:
        path, asked = unquote(to.path.partition("?")[0]), to.headers["Range"]
        with self.lock:
            self.seen.append((to.command, path, asked))
            self.at_once += 1
            self.most_at_once = max(self.at_once, self.most_at_once)
            faults = self.faults.get(path) if to.command == "GET" else None
            fault = faults.pop(0) if faults else None
        time.sleep(fault if isinstance(fault, float) else self.pause)
        try:
            self._send(to, path, asked, fault)
        except OSError:
            to.close_connection = True  # whoever asked has gone
        finally:
            with self.lock:
                self.at_once -= 1

    def _send(self, to: BaseHTTPRequestHandler, path: str, asked: str | None, fault: int | float | str | None) -> None:
        whole = self.files.get(path)
        status = fault if isinstance(fault, int) else 404 if whole is None else 206 if asked else 200
        first, last = 0, len(whole or b"") - 1
        if asked and whole is not None:
            begin, _, end = asked.removeprefix("bytes=").partition("-")
            first, last = int(begin), min(int(end), last)
            status = 416 if first > last and status == 206 else status
        data = (whole or b"")[first : last + 1] if status < 300 else b""
        data = data[: len(data) // 2] if fault == "short" else data
        to.send_response(status)
        to.send_header("Content-Length", str(len(data)))
        if whole is not None:
            to.send_header("ETag", f'"{hashlib.md5(whole).hexdigest()}"')
        if status == 206:
            to.send_header("Content-Range", f"bytes {first}-{first + len(data) - 1}/{len(whole or b'')}")
        to.end_headers()
        if to.command == "GET":
            to.wfile.write(data[: len(data) // 2] if fault == "cut" else data)
        if fault == "cut":
            to.close_connection = True

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def web() -> Iterator[Web]:
    one = Web()
    try:
        yield one
    finally:
        one.close()
