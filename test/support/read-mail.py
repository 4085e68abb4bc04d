"""Reads messages by Python's strict email policy (any defect is an error): a JSON list in base64 from stdin, what it found to stdout."""
import base64
import email
import email.policy
import hashlib
import json
import sys


def read(encoded):
    message = email.message_from_bytes(base64.b64decode(encoded), policy=email.policy.strict)
    return {
        "defects": [str(defect) for part in message.walk() for defect in part.defects],
        "subject": message["Subject"],
        "from": message["From"].addresses[0].display_name,
        "to": [address.addr_spec for address in message["To"].addresses],
        "text": message.get_body(("plain",)).get_content().replace("\r\n", "\n"),
        "html": message.get_body(("html",)).get_content().replace("\r\n", "\n"),
        "attachments": [
            {"filename": part.get_filename(), "sha256": hashlib.sha256(part.get_payload(decode=True)).hexdigest()}
            for part in message.iter_attachments()
        ],
    }


print(json.dumps([read(encoded) for encoded in json.load(sys.stdin)]))
