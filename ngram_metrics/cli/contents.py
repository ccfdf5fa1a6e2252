"""What the first bytes of a file look like, if they are not text in UTF-8, and what to do about it."""

from __future__ import annotations

#: The number of bytes at the start of a file that are examined.
LOOKED_AT = 4096
GZIP, XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"
_UTF32, _UTF16 = (b"\xff\xfe\0\0", b"\0\0\xfe\xff"), (b"\xff\xfe", b"\xfe\xff")
_TAR, _TAR_AT = b"ustar", 257
_KINDS = {
    b"PK\x03\x04": "a zip archive",
    b"BZh": "packed by bzip2",
    b"\x28\xb5\x2f\xfd": "packed by zstd",
    b"%PDF": "a PDF",
    b"\x89PNG": "a picture",
    b"\x7fELF": "a program",
    b"\x80\x02": "a pickle",
}
#: Text has few of these control characters.
_CONTROLS = bytes({*range(32)} - set(b"\t\n\v\f\r\x1b"))


def unreadable(first: bytes) -> str | None:
    """Return what a file with these first bytes looks like and what to do; None if it may be UTF-8."""
    if first.startswith(_UTF32):
        return "looks like UTF-32: convert it, as by iconv -f UTF-32 -t UTF-8"
    if first.startswith(_TAR, _TAR_AT):
        return "looks like a tar archive: unpack it first"
    if first.startswith(_UTF16) or _alternating_zeros(first):
        return "looks like UTF-16: convert it, as by iconv -f UTF-16 -t UTF-8"
    if is_utf8(first):
        # Valid UTF-8 is text, even with a NUL: sacrebleu counts it as a character.
        return None
    for begin, kind in _KINDS.items():
        if first.startswith(begin):
            return f"looks like {kind}: expected lines of text in UTF-8, plain or packed by gzip or xz"
    if len(first.translate(None, _CONTROLS)) < 0.95 * len(first):
        return "looks like a binary file: expected lines of text in UTF-8, plain or packed by gzip or xz"
    return None


def is_utf8(first: bytes) -> bool:
    """Return whether bytes are the beginning of UTF-8; the last character may be cut off."""
    try:
        first.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True


def _alternating_zeros(first: bytes) -> bool:
    """Return whether bytes look like UTF-16 without its mark: in letters and blanks every other byte is 0."""
    return len(first) >= 4 and any(
        first[start::2].count(0) > 0.7 * len(first[start::2]) and first[1 - start :: 2].count(0) < 0.1 * len(first)
        for start in (0, 1)
    )
