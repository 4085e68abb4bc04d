"""Asks pyspf for each [domain, address] of the JSON on stdin, of the name server on 127.0.0.1 at the port of the first argument."""
import json
import sys

import DNS
import spf

DNS.defaults["server"] = ["127.0.0.1"]
DNS.defaults["port"] = int(sys.argv[1])
DNS.defaults["server_rotate"] = 0

verdicts = []
for domain, address in json.load(sys.stdin):
    result, explanation = spf.check2(i=address, s=f"somebody@{domain}", h="sender.example", timeout=10, querytime=3)
    verdicts.append([result, explanation])
print(json.dumps(verdicts))
