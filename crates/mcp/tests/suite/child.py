"""A scripted MCP server on stdio. The first argument says how it greets; tools say what it does afterwards."""
import json
import os
import signal
import subprocess
import sys
import time

mode = sys.argv[1]
seen, cancelled, held, answers = [], [], [], []
asked = 0


def send(message, pretty=False):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def result(request, value):
    send({"jsonrpc": "2.0", "id": request["id"], "result": value})


def error(request, code, data=None):
    body = {"code": code, "message": "no"}
    if data is not None:
        body["data"] = data
    send({"jsonrpc": "2.0", "id": request["id"], "error": body})


DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {"listChanged": True}},
    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "child", "version": "2"}},
}


def discover(request):
    if mode in ("modern", "both"):
        result(request, DISCOVERED)
    elif mode == "modern-late":
        held.append(request)
    elif mode == "modern-picky":
        if len([m for m in seen if m == "server/discover"]) == 1:
            error(request, -32022, {"supported": ["2026-07-28"], "requested": "2026-07-28"})
        else:
            result(request, DISCOVERED)
    elif mode == "modern-future":
        error(request, -32022, {"supported": ["2099-01-01"], "requested": "2026-07-28"})
    elif mode == "names-legacy":
        error(request, -32022, {"supported": ["2025-06-18"], "requested": "2026-07-28"})
    elif mode == "invalid-params":
        error(request, -32602)
    elif mode == "odd-error":
        error(request, 0)
    elif mode == "anything":
        result(request, {})
    elif mode == "garbage":
        print("what is " + request["method"] + "?", flush=True)
    elif mode == "dies":
        sys.stderr.write("cannot go on\n")
        sys.exit(3)
    elif mode == "silent":
        pass
    else:
        error(request, -32601)


def initialize(request):
    if mode == "modern-late":
        error(request, -32601)
        result(held.pop(), DISCOVERED)
        return
    if mode == "unknown-version":
        version = "1999-01-01"
    elif mode == "picky-initialize" and request["params"]["protocolVersion"] != "2024-11-05":
        return error(request, -32602, {"supported": ["2024-11-05"]})
    elif mode.startswith("20"):
        version = mode
    else:
        version = request["params"]["protocolVersion"]
    result(request, {
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "child", "version": "1"},
        "instructions": "be kind",
    })


def ask(method, params):
    global asked
    asked += 1
    send({"jsonrpc": "2.0", "id": "q%d" % asked, "method": method, "params": params})


def call(request):
    params = request["params"]
    name, given = params["name"], params.get("arguments", {})
    token = params.get("_meta", {}).get("progressToken")
    if name == "echo":
        result(request, {"content": [], "given": given})
    elif name == "reverse":
        held.append(request)
        if len(held) == given["of"]:
            while held:
                last = held.pop()
                result(last, {"given": last["params"]["arguments"]})
    elif name == "never":
        send({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1}})
    elif name == "state":
        result(request, {"seen": seen, "cancelled": cancelled, "answers": answers, "last": params})
    elif name == "noise":
        print("hello, I am a library that prints")
        print("")
        print("{broken")
        print('{"jsonrpc":"2.0","id":null,"result":{}}')
        print('{"jsonrpc":"2.0","id":999999,"result":{}}')
        print('{"jsonrpc":"2.0","id":1,"result":{"late":true}}')
        print('[{"jsonrpc":"2.0","method":"notifications/tools/list_changed"},7]')
        print('{"jsonrpc":"2.0","id":"u","method":"vendor/strange"}', flush=True)
        result(request, {"ok": True})
        result(request, {"twice": True})
    elif name == "ask":
        held.append(request)
        ask("ping", {})
        ask("elicitation/create", {"message": "sure?"})
    elif name == "log":
        send({"method": "notifications/message", "params": {"level": "info", "data": "d"}})
        result(request, {})
    elif name == "big":
        head = '{"jsonrpc":"2.0",' if given["id"] == "last" else '{"id":%d,' % request["id"]
        tail = ',"id":%d}' % request["id"] if given["id"] == "last" else "}"
        sys.stdout.write(head + '"result":{"x":"' + "a" * given["size"] + '"}' + tail + "\n")
        sys.stdout.flush()
    elif name == "nan":
        result(request, {"x": float("nan")})
    elif name == "deaf":
        result(request, {})
        time.sleep(1000)
    elif name == "die":
        sys.stderr.write("goodbye\n")
        sys.stderr.flush()
        os._exit(given["status"])
    elif name == "family":
        child = subprocess.Popen(["sleep", "1000"], stdout=subprocess.DEVNULL)
        result(request, {"pids": [os.getpid(), child.pid]})
    elif name == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        result(request, {"pids": [os.getpid()]})
        while True:
            time.sleep(1000)
    elif name == "environment":
        result(request, {"env": dict(os.environ), "cwd": os.getcwd()})
    else:
        error(request, -32602)


for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method is None:
        answers.append(message)
        if held and message["id"] == "q2":
            result(held.pop(), {"answer": message.get("result"), "error": message.get("error")})
        continue
    seen.append(method)
    if method == "server/discover":
        discover(message)
    elif method == "initialize":
        initialize(message)
    elif method == "notifications/cancelled":
        cancelled.append(message["params"]["requestId"])
    elif method == "subscriptions/listen":
        tag = {"io.modelcontextprotocol/subscriptionId": message["id"]}
        send({"method": "notifications/subscriptions/acknowledged",
              "params": {"_meta": tag, "notifications": {"toolsListChanged": True}}})
        send({"method": "notifications/tools/list_changed", "params": {"_meta": tag}})
    elif method == "tools/call":
        call(message)
    elif "id" in message:
        error(message, -32601)
