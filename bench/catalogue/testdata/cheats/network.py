# tries: calls home
# must: run
import socket

from honest import caught, denied, play


def cheat():
    denied("a connection", lambda: socket.create_connection(("127.0.0.1", 22), 1))
    denied("a datagram", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)))
    denied("a name", lambda: socket.getaddrinfo("example.org", 80))
    denied("a local socket", lambda: socket.socket(socket.AF_UNIX))


play(before=cheat)
