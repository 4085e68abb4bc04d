import base64
import hashlib
import hmac
import time


def verify(secret: str, id: str, timestamp: str, signatures: str, body: bytes) -> bool:
    """`body` as it came. True where the endpoint's secret signed it, within five minutes."""
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(digest).decode()
    return any(hmac.compare_digest(expected.encode(), given.encode()) for given in signatures.split(" "))
