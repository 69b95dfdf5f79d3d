"""A web server on this machine that serves what a test tells it to, faults included."""

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PATIENCE = 20.0


class Loopback:
    """Answers of a server by path.

    Attributes:
        answers: dict of path to bytes, or to a function of the request handler.
        requests: list of the paths asked for.
        released: Event; answers that hang do so until it is set.
    """

    def __init__(self):
        self.answers = {}
        self.requests = []
        self.released = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    def url(self, path):
        """The address of a path."""
        return f"http://127.0.0.1:{self.server.server_port}/{path}"

    def _handler(self):
        loopback = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                path = self.path.lstrip("/")
                loopback.requests.append(path)
                answer = loopback.answers.get(path)
                if answer is None:
                    self.send_error(404)
                elif callable(answer):
                    answer(self)
                else:
                    send(self, answer)

            def log_message(self, *_):
                pass

        return Handler


def send(handler, content, announced=None):
    """Sends content; `announced` is the length that the header tells, its own by default."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content) if announced is None else announced))
    handler.end_headers()
    handler.wfile.write(content)


def cut(content):
    """An answer that breaks off in the middle."""
    return lambda handler: send(handler, content[: len(content) // 2], len(content))


def in_turn(*answers):
    """A different answer each time."""
    left = list(answers)

    def answer(handler):
        current = left.pop(0)
        current(handler) if callable(current) else send(handler, current)

    return answer


def hanging(loopback, content):
    """An answer that begins and then keeps still."""

    def answer(handler):
        send(handler, content[:10], len(content))
        handler.wfile.flush()
        loopback.released.wait(PATIENCE)

    return answer


def together(count, content):
    """An answer that is given once `count` requests have come."""
    barrier = threading.Barrier(count)

    def answer(handler):
        barrier.wait(PATIENCE)
        send(handler, content)

    return answer


@contextlib.contextmanager
def serving():
    """Yields a Loopback that runs in a thread."""
    loopback = Loopback()
    thread = threading.Thread(target=loopback.server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield loopback
    finally:
        loopback.released.set()
        loopback.server.shutdown()
        thread.join()
        loopback.server.server_close()
