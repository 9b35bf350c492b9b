"""Drives the published Python client as told: `client.py ERA MODES CONTENT TARGET...`.

ERA is `modern` or `legacy`; MODES are the kinds of elicitation it declares, `form,url` or empty; CONTENT is the JSON object it fills
every form in with; TARGET is a URL, called with the key in SWITCHBOARD_API_KEY, or a command for standard input and output.
Each line of standard input is a command `{"id", "do", ...}`; each line of standard output a reply `{"id", "result" | "error"}` or an
`{"event", ...}`. `{"do": "cancel", "id"}` calls off the command of that id.
"""

import json
import os
import sys
from contextlib import asynccontextmanager

import anyio
import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

ERA, MODES, CONTENT, *TARGET = sys.argv[1:]


def say(**line):
    print(json.dumps(line), flush=True)


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def elicit(_context, params):
    say(event="elicitation", params=plain(params))
    if getattr(params, "url", None):
        return types.ElicitResult(action="accept")
    return types.ElicitResult(action="accept", content=json.loads(CONTENT))


async def heard(message):
    if isinstance(message, types.ToolListChangedNotification):
        say(event="tools_changed")


async def progress(done, total, message):
    say(event="progress", progress=done, total=total, message=message)


async def perform(client, order):
    match order["do"]:
        case "tools":
            return [plain(tool) for tool in (await client.list_tools()).tools]
        case "call":
            watch = progress if order.get("progress") else None
            return plain(await client.call_tool(order["name"], order.get("arguments", {}), progress_callback=watch))
        case "prompts":
            return [plain(prompt) for prompt in (await client.list_prompts()).prompts]
        case "prompt":
            return plain(await client.get_prompt(order["name"], order.get("arguments", {})))
        case "resources":
            return [plain(resource) for resource in (await client.list_resources()).resources]
        case "templates":
            return [plain(template) for template in (await client.list_resource_templates()).resource_templates]
        case "resource":
            return plain(await client.read_resource(order["uri"]))
        case "complete":
            reference = types.PromptReference(type="ref/prompt", name=order["prompt"])
            return plain(await client.complete(reference, order["argument"]))
        case "listen":
            return await listen(client)
    raise ValueError(f"no such command: {order['do']}")


async def listen(client):
    """Hears of changed lists from now on; sessions hear of them without asking."""
    if ERA == "legacy":
        return {}

    async def follow(task_status=anyio.TASK_STATUS_IGNORED):
        async with client.listen(tools_list_changed=True) as subscription:
            task_status.started(plain(subscription.honored))
            async for _event in subscription:
                say(event="tools_changed")

    return await TASKS.start(follow)


async def run(client, order, scope):
    with scope:
        try:
            say(id=order["id"], result=await perform(client, order))
        except MCPError as error:
            say(id=order["id"], error={"code": error.error.code, "message": error.error.message, "data": error.error.data})
    if scope.cancelled_caught:
        say(id=order["id"], error={"cancelled": True})


@asynccontextmanager
async def target():
    if not TARGET[0].startswith("http"):
        yield StdioServerParameters(command=TARGET[0], args=TARGET[1:], env=dict(os.environ))
        return
    key = {"Authorization": f"Bearer {os.environ['SWITCHBOARD_API_KEY']}"}
    async with httpx2.AsyncClient(headers=key, timeout=httpx2.Timeout(60)) as http:
        yield streamable_http_client(TARGET[0], http_client=http)


async def main():
    global TASKS
    mode = "legacy" if ERA == "legacy" else "auto"
    answer = elicit if MODES else None
    async with target() as server, anyio.create_task_group() as TASKS:
        async with Client(server, mode=mode, elicitation_callback=answer, message_handler=heard, cache=None) as client:
            say(event="connected", protocol=client.protocol_version, server=plain(client.server_info))
            scopes = {}
            async for line in anyio.wrap_file(sys.stdin):
                order = json.loads(line)
                if order["do"] == "cancel":
                    scopes[order["id"]].cancel()
                    continue
                scope = scopes[order["id"]] = anyio.CancelScope()
                TASKS.start_soon(run, client, order, scope)
            TASKS.cancel_scope.cancel()


anyio.run(main)
