"""A FastMCP proxy: fastmcp_proxy.py PORT UPSTREAM_URL"""
import sys

from fastmcp.server import create_proxy

create_proxy(sys.argv[2]).run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), log_level="error", show_banner=False)
