"""Bytes of a source file as text, or the reason why they are not text."""

from __future__ import annotations

import codecs
import re

from ingestion.parsing.types import DocumentError

_DECLARED = re.compile(
    rb"\\(?:usepackage|RequirePackage)\s*\[([A-Za-z0-9_-]+)\]\s*\{(?:inputenc|inputenx)\}"
    rb"|\\inputencoding\s*\{([A-Za-z0-9_-]+)\}"
    rb"|^%\s*!\s*TeX\s+encoding\s*=\s*([A-Za-z0-9_ -]+)"
    rb"|-\*-.*coding:\s*([A-Za-z0-9_-]+)",
    re.IGNORECASE | re.MULTILINE,
)
_PYTHON_NAME = {
    "latin1": "cp1252",  # what authors call latin1 is Windows text more often than not
    "latin9": "iso8859-15",
    "latin2": "iso8859-2",
    "ansinew": "cp1252",
    "cp1252": "cp1252",
    "applemac": "mac-roman",
    "macroman": "mac-roman",
    "isolatin1": "cp1252",
    "isolatin": "cp1252",
    "iso-8859-1": "cp1252",
    "iso88591": "cp1252",
    "iso-8859-15": "iso8859-15",
    "utf8": "utf-8",
    "utf8x": "utf-8",
    "utf-8": "utf-8",
    "ascii": "utf-8",
}
_BINARY = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"%PDF-": "a PDF file",
    b"PK\x03\x04": "an archive",
    b"\x1f\x8b": "an archive",
    b"\xd0\xcf\x11\xe0": "an old Office file",
    b"\x7fELF": "a program",
    b"{\\rtf": "an RTF file",
}


def decode(data: bytes) -> tuple[str, str]:
    """The text with `\\n` line ends, in NFC-neutral form, and the name of its encoding.

    UTF-8 (with or without a mark), UTF-16 with a mark, then what the file declares, then Windows
    Latin-1. Raises DocumentError when the bytes are not text.
    """
    if not data.strip():
        raise DocumentError("the file is empty")
    for magic, what in _BINARY.items():
        if data.startswith(magic):
            raise DocumentError(f"not text: the content is {what}, whatever the name says")
    for mark, name in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if data.startswith(mark):
            try:
                return _clean(data.decode(name)), name
            except UnicodeDecodeError:
                raise DocumentError("not text: broken UTF-16") from None
    if b"\x00" in data:
        raise DocumentError("not text: it holds NUL bytes")
    try:
        return _clean(data.decode("utf-8-sig")), "utf-8"
    except UnicodeDecodeError:
        pass
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\v\x1a\x1b" for byte in data)
    if controls > len(data) / 50 + 2:
        raise DocumentError("not text: it holds control bytes")
    name = declared(data)
    if name in {"", "utf-8"}:
        mixed = data.decode("utf-8", errors="preuve-byte")
        strays = len(_STRAY.findall(mixed))
        if strays <= sum(char > "\x7f" for char in mixed) - strays:
            return _clean(_STRAY.sub(_as_windows, mixed)), "utf-8 with stray bytes"
        name = "cp1252"
    return _clean(data.decode(name, errors="replace")), name


_STRAY = re.compile("[\ue080-\ue0ff]")


def _as_windows(match: re.Match[str]) -> str:
    return bytes([ord(match.group()) - 0xE000]).decode("cp1252", errors="replace")


def _mark_stray(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return chr(0xE000 + error.object[error.start]), error.start + 1


codecs.register_error("preuve-byte", _mark_stray)


def declared(data: bytes) -> str:
    """The Python name of the encoding that the file declares, or nothing."""
    match = _DECLARED.search(data[:20_000])
    if not match:
        return ""
    name = next(group for group in match.groups() if group).decode("ascii").strip().lower()
    return _PYTHON_NAME.get(name, _PYTHON_NAME.get(name.replace("-", "").replace("_", ""), ""))


def _clean(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufeff", "")
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ue000-\ue0ff]", " ", text)
