"""Pieces of bytes, each after its length: how two processes of the server speak to each other."""

import errno
import struct
from io import RawIOBase
from typing import IO, TYPE_CHECKING

from gevent.socket import socket

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_LENGTH = struct.Struct("!I")
PIECE_BYTES = 65_536


class Body(RawIOBase):
    """A request's body, from the pieces in which it comes."""

    def __init__(self, asked: IO[bytes]) -> None:
        self._asked: IO[bytes] | None = asked
        self._left = b""

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Fill a buffer, or a part of it; raise ``OSError`` where the body ends too early."""
        if not self._left and self._asked is not None:
            self._left = read_piece(self._asked)
            if not self._left:
                self._asked = None
        view = memoryview(buffer)
        given, self._left = self._left[: len(view)], self._left[len(view) :]
        view[: len(given)] = given
        return len(given)


def send_pieces(connection: socket, *pieces: bytes) -> None:
    """Send pieces, each after its length."""
    connection.sendall(b"".join(_LENGTH.pack(len(piece)) + piece for piece in pieces))


def read_piece(file: IO[bytes]) -> bytes:
    """Return the next piece.

    Raises:
        ConnectionResetError: The other side ended before it, or in it.
    """
    length = file.read(_LENGTH.size)
    if len(length) == _LENGTH.size:
        (n,) = _LENGTH.unpack(length)
        if len(piece := file.read(n)) == n:
            return piece
    raise ConnectionResetError(errno.ECONNRESET, "the other side ended")
