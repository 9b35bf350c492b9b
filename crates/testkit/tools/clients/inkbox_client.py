"""Drives the published Python client `inkbox`: lines of JSON say what to do, lines of JSON say what came of it.

Arguments: the server's address and a key.
"""

import dataclasses
import enum
import json
import sys

from inkbox import Inkbox


def plain(value):
    """What JSON can say of what the client returns."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return str(value)


def act(client, wanted):
    what = wanted["do"]
    if what == "identity":
        found = client.get_identity(wanted["handle"])
        return {"id": str(found.id), "handle": found.agent_handle}
    if what == "invocations":
        return client.calls.tool_invocations(wanted["call"], limit=wanted["limit"], offset=wanted["offset"])
    if what == "voices":
        return client.hosted_agent.list_voices()
    if what == "whoami":
        return client.whoami()
    if what == "calls":
        return client.calls.list(agent_identity_id=wanted.get("agent"))
    if what == "transcripts":
        return client.calls.transcripts(wanted["call"])
    raise ValueError(what)


def main():
    base, key = sys.argv[1:3]
    with Inkbox(api_key=key, base_url=base) as client:
        for line in sys.stdin:
            try:
                said = {"ok": plain(act(client, json.loads(line)))}
            except Exception as error:  # Whatever the client makes of an answer is what is tested.
                status = getattr(error, "status_code", None)
                said = {"status": status, "detail": str(error)} if status else {"failed": repr(error)}
            print(json.dumps(said), flush=True)


main()
