"""Reads a message from stdin by Python's strict email policy (any defect is an error) and prints what it found."""
import email
import email.policy
import hashlib
import json
import sys

message = email.message_from_bytes(sys.stdin.buffer.read(), policy=email.policy.strict)
found = {
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
print(json.dumps(found))
