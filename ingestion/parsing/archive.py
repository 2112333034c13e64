"""ZIP archives opened without trust: inside the target folder, within limits, or not at all."""

from __future__ import annotations

import stat
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ingestion.parsing.types import DocumentError

_BLOCK = 1 << 16
_RESERVED = {"con", "prn", "aux", "nul"}


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """Sizes in bytes, before and while unpacking; `ratio` is unpacked to packed."""

    files: int = 5_000
    total: int = 200_000_000
    one: int = 50_000_000
    depth: int = 12
    path: int = 240
    ratio: int = 200


def extract_zip(path: Path, into: Path, limits: ArchiveLimits | None = None) -> None:
    """Every ordinary file of the archive stands under `into` afterwards, or DocumentError.

    Refused as a whole: a broken or encrypted archive, a name that leaves the folder, a link, more
    or larger files than the limits, declared or real. macOS resource files are left out.
    """
    limits = limits or ArchiveLimits()
    try:
        with zipfile.ZipFile(path) as archive:
            members = _checked(archive, limits)
            left = limits.total
            for member, target in members:
                left -= _unpack(archive, member, into / target, min(limits.one, left))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeError) as error:
        raise DocumentError(f"the archive is broken or of an unknown kind ({error})") from None
    except RuntimeError:
        raise DocumentError("the archive is encrypted: send it without a password") from None
    except OSError as error:
        raise DocumentError(f"the archive cannot be unpacked ({error.strerror or error})") from None


def _checked(archive: zipfile.ZipFile, limits: ArchiveLimits) -> list[tuple[zipfile.ZipInfo, str]]:
    """The files to unpack with their safe names; everything is checked before anything is written."""  # noqa: E501
    infos = archive.infolist()
    if len(infos) > limits.files:
        raise DocumentError(f"the archive holds more than {limits.files} files")
    members: list[tuple[zipfile.ZipInfo, str]] = []
    seen: set[str] = set()
    total = 0
    for info in infos:
        if info.flag_bits & 0x1:
            raise DocumentError("the archive is encrypted: send it without a password")
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
            raise DocumentError(f"the archive holds a link or a special file: {_shown(info)}")
        name = _name(info, limits)
        if info.is_dir() or name is None:
            continue
        total += info.file_size
        if info.file_size > limits.one:
            raise DocumentError(f"{name}: larger than {limits.one // 1_000_000} MB")
        if total > limits.total:
            raise DocumentError(f"the archive holds more than {limits.total // 1_000_000} MB")
        if info.file_size > 1_000_000 and info.file_size > limits.ratio * max(
            1, info.compress_size
        ):
            raise DocumentError(f"{name}: compressed more than any course material is")
        if name.casefold() in seen:
            raise DocumentError(f"{name}: twice in the archive")
        seen.add(name.casefold())
        members.append((info, name))
    return members


def _name(info: zipfile.ZipInfo, limits: ArchiveLimits) -> str | None:
    """The file's path inside the target folder; None for what macOS adds."""
    name = _decoded(info).replace("\\", "/")
    if name.startswith("/") or (len(name) > 1 and name[1] == ":") or "\x00" in name:
        raise DocumentError(f"the archive holds a name that leaves the folder: {_shown(info)}")
    parts = [part for part in PurePosixPath(name).parts if part != "."]
    if ".." in parts:
        raise DocumentError(f"the archive holds a name that leaves the folder: {_shown(info)}")
    if not parts or parts[0] == "__MACOSX":
        return None
    if len(parts) > limits.depth or len(name) > limits.path:
        raise DocumentError(f"the archive is nested too deeply: {_shown(info)}")
    if any(part.split(".")[0].casefold() in _RESERVED for part in parts):
        raise DocumentError(f"the archive holds a reserved name: {_shown(info)}")
    return "/".join(parts)


def _decoded(info: zipfile.ZipInfo) -> str:
    """The member's name: flagged UTF-8, else UTF-8 written without the flag, else CP437."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.orig_filename.encode("cp437").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return info.filename


def _shown(info: zipfile.ZipInfo) -> str:
    return repr(info.filename[:80])


def _unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path, most: int) -> int:
    """Write one file; what is really in it counts, whatever the archive declares."""
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with archive.open(info) as source, target.open("xb") as out:
        while block := source.read(_BLOCK):
            written += len(block)
            if written > most:
                raise DocumentError(f"{_shown(info)}: larger than the archive declares or allows")
            out.write(block)
    return written
