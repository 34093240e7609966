"""Stands for a copy of the process at an address, in its streams, environment, folder and end."""

import json
import os
import signal
import socket
import sys


def main() -> None:
    """Have the process copied, and end as the copy does."""
    address, *arguments = sys.argv[1:]
    asked = {"arguments": arguments, "environment": dict(os.environ), "folder": os.getcwd()}
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.connect(f"\0{address}")
        socket.send_fds(server, [json.dumps(asked).encode()], [0, 1, 2])
        code = int(server.recv(16))
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
