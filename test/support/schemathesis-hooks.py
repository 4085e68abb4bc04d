"""Gives each request a different address; otherwise nearly all requests to public paths would be throttled."""

import random

import schemathesis
from hypothesis import strategies

schemathesis.openapi.format("day-or-time", strategies.dates().map(str))


@schemathesis.hook
def before_call(context, case, kwargs):
    case.headers = dict(case.headers or {})
    group = lambda: format(random.getrandbits(16), "x")
    case.headers["X-Forwarded-For"] = f"2001:db8:{group()}:{group()}:{group()}:{group()}::1"
