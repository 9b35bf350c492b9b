"""A small FastMCP server: `fastmcp_server.py stdio`, or `http`, which says on standard error where it listens."""

import asyncio
import socket
import sys

import uvicorn
from fastmcp import Context, FastMCP

server = FastMCP("small", version="1")


@server.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool
async def count(to: int, context: Context) -> str:
    """Counts, and says how far it is."""
    for number in range(1, to + 1):
        await context.report_progress(number, to)
    return f"counted to {to}"


@server.tool
def fail() -> str:
    """Fails."""
    raise ValueError("told to fail")


@server.resource("note://greeting")
def greeting() -> str:
    """A note."""
    return "hello"


@server.resource("note://of/{name}")
def note(name: str) -> str:
    """A note of somebody's."""
    return f"a note of {name}"


@server.prompt
def ask(topic: str) -> str:
    """Asks about a topic."""
    return f"What about {topic}?"


async def http() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"loopback port {listener.getsockname()[1]}", file=sys.stderr, flush=True)
    config = uvicorn.Config(server.http_app(path="/mcp"), log_level="warning")
    await uvicorn.Server(config).serve(sockets=[listener])


if sys.argv[1] == "stdio":
    server.run(transport="stdio", show_banner=False)
else:
    asyncio.run(http())
