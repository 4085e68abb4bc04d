"""Reads all mails of a mailbox by IMAP and prints what the server's own parser made of them. Usage: read-imap.py PORT USER"""
import base64
import email.header
import hashlib
import imaplib
import itertools
import json
import re
import sys

TOKEN = re.compile(rb'[()]|"(?:[^"\\]|\\.)*"|~?\{(\d+)\}\r\n|[^\s()"]+')


def parse(data):
    """An IMAP list: strings as bytes, NIL as None, lists as lists."""
    stack, at = [[]], 0
    while True:
        token = TOKEN.search(data, at)
        if token is None:
            return stack[0]
        text, at = token.group(), token.end()
        if text == b"(":
            stack.append([])
        elif text == b")":
            done = stack.pop()
            stack[-1].append(done)
        elif token.group(1) is not None:
            stack[-1].append(data[at : at + int(token.group(1))])
            at += int(token.group(1))
        elif text[:1] == b'"':
            stack[-1].append(re.sub(rb"\\(.)", rb"\1", text[1:-1]))
        else:
            stack[-1].append(None if text == b"NIL" else text)


def words(value):
    """Encoded words (RFC 2047) as text."""
    return str(email.header.make_header(email.header.decode_header((value or b"").decode()))) if value else ""


def addresses(listed):
    return [[words(name), f"{box.decode()}@{host.decode()}"] for name, _route, box, host in listed or []]


def leaves(structure, section=""):
    """(section, body structure) of each part that holds no others. The parts of a multipart stand before its subtype."""
    if not isinstance(structure[0], list):
        yield section or "1", structure
        return
    for n, part in enumerate(itertools.takewhile(lambda one: isinstance(one, list), structure), 1):
        yield from leaves(part, f"{section}.{n}" if section else f"{n}")


def fetched(imap, number, what):
    """The server's whole answer to a FETCH, with literals in their place."""
    pieces = []
    for piece in imap.fetch(number, what)[1]:
        pieces += [piece[0], b"\r\n", piece[1]] if isinstance(piece, tuple) else [piece]
    return parse(b"".join(pieces))[1]


def pairs(listed):
    listed = listed or []
    return {key.decode().lower(): value.decode() for key, value in zip(listed[::2], listed[1::2])}


imap = imaplib.IMAP4("127.0.0.1", int(sys.argv[1]), timeout=30)
imap.login(sys.argv[2], "any")
imap.select(readonly=True)
mails = []
for number in imap.search(None, "ALL")[1][0].split():
    _, envelope, _, structure, _, raw = fetched(imap, number, "(ENVELOPE BODYSTRUCTURE BODY.PEEK[])")
    parts = []
    for section, leaf in leaves(structure):
        content = fetched(imap, number, f"(BINARY.PEEK[{section}])")[-1]
        charset = pairs(leaf[2]).get("charset")
        disposition = next((one for one in leaf[8:] if isinstance(one, list) and isinstance(one[0], bytes)), None)
        parts.append(
            {
                "type": f"{leaf[0].decode()}/{leaf[1].decode()}".lower(),
                "charset": charset and charset.lower(),
                "text": content.decode(charset).replace("\r\n", "\n") if charset else None,
                "disposition": disposition and disposition[0].decode().lower(),
                "sha256": hashlib.sha256(content).hexdigest(),
            }
        )
    mails.append(
        {
            "raw": base64.b64encode(raw).decode(),
            "envelope": {
                "subject": words(envelope[1]),
                "from": addresses(envelope[2]),
                "to": addresses(envelope[5]),
                "cc": addresses(envelope[6]),
                "messageId": envelope[9].decode(),
            },
            "parts": parts,
        }
    )
imap.logout()
print(json.dumps(mails))
