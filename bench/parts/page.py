"""docs/benchmarks.md: prose of people around tables of the last run, between two marks."""

BEGIN, END = "<!-- tables: written by bench/run -->", "<!-- end of tables -->"
SKELETON = f"""# Benchmarks

What a call through Switchboard costs, measured beside a direct call and beside *the floor*: the least an MCP-aware proxy must do
(parse, look at the tool's name, forward, parse the answer; no key, no policy, no record).

{BEGIN}
{END}
"""
COLUMNS = ["p50 ms", "p99 ms", "added p50 ms", "× floor", "calls/s", "× floor", "CPU µs", "errors"]
FIELDS = ["p50_ms", "p99_ms", "added_p50_ms", "added_x_floor", "calls_per_s", "rate_x_floor", "cpu_us", "errors"]


def write(path, tables_):
    """Puts the tables between the marks; everything else of the page stays."""
    text = path.read_text() if path.exists() else SKELETON
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    path.write_text(f"{before}{BEGIN}\n\n{tables_}\n\n{END}{after}")


def grid(head, rows):
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    return "\n".join(lines + ["| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |" for row in rows])


def lanes(rows, *keys):
    """One table: every lane of every row, with what tells the rows apart in front."""
    cells = [[row[key] for key in keys] + [name] + [lane.get(field) for field in FIELDS]
             for row in rows for name, lane in row["lanes"].items()]
    return grid([*keys, "what", *COLUMNS], cells)


def headed(title, measured, *body):
    run = measured["run"]
    build = "" if run.get("build", "plain") == "plain" else f" ({run['build']} build)"
    note = f"{run['date']}, commit {run['commit']}{build}, {run['cores']} shared cores, medians of {run['rounds']} interleaved rounds."
    return "\n\n".join([f"## {title}", note, *body])


def tables(found):
    """Every table of what was measured."""
    return "\n\n".join(make(found[name]) for name, make in TABLES.items() if name in found)


def calls(measured):
    memory = measured["after"]
    note = (f"fdatasync p50 in the same run: {measured['fdatasync_ms']} ms. Memory after it: {memory['rss_mb']} MB resident, "
            f"{memory['anon_mb']} MB of it anonymous.")
    store = measured["rows"][0]["store"]
    return headed(f"A call, {store}", measured, lanes(measured["rows"], "clients"), note)


def decisions(measured):
    rows = [[row["rules"], *(round(row[field] / scale, digits) for field, scale, digits in
             (("decide", 1, 1), ("compose", 1000, 1), ("unchanged", 1000, 2), ("parse", 1000, 1)))] for row in measured["rows"]]
    return headed("Deciding, 500 rules of which 50 read arguments, 1,000 tools", measured,
                  grid(["of these", "one decision, µs", "snapshot, ms", "facts unchanged, ms", "reading the rules, ms"], rows))


def slow_commits(measured):
    row = [measured[field] for field in ("added_ms", "acts_per_commit", "calls_per_s", "p50_ms", "errors")]
    return headed("Mutating calls on a slower disk, 32 clients", measured,
                  grid(["added to each commit, ms", "acts per commit", "calls/s", "p50 ms", "errors"], [row]))


def idle(measured):
    row = [measured[field] for field in ("first_ready_ms", "second_ready_ms", "rss_mb", "anon_mb")]
    return headed("Start and rest, no connections, SQLite", measured,
                  grid(["first start ready, ms", "second start ready, ms", "RSS MB", "anonymous MB"], [row]))


def abandoned(measured):
    rows = [[name, *(facts[field] for field in ("sessions", "kb_each", "processes", "descriptors"))]
            for name, facts in measured.items() if name != "run"]
    return headed("Sessions that clients leave behind", measured,
                  grid(["in front of", "sessions left", "KB each", "processes more", "descriptors more"], rows))


def instructions(measured):
    rows = [[row["what"], row["instructions"], row["kept"]] for row in measured["rows"]]
    run = measured["run"]
    return "\n\n".join(["## Instructions of a call", f"{run['date']}, commit {run['commit']}, counted by callgrind, 8 clients.",
                        grid(["what", "instructions", "kept in bench/instructions.json"], rows)])


def peers(measured):
    rows = [[f"{row['peer']} {row['version']}" if name == row["peer"] else name, row["clients"], *(lane.get(f) for f in FIELDS),
             "{} → {}".format(*row["rss_mb"]) if name == row["peer"] else None]
            for row in measured["rows"] for name, lane in row["lanes"].items() if name in (row["peer"], "switchboard", "floor")]
    return headed("Beside other gateways", measured, grid(["what", "clients", *COLUMNS, "RSS MB"], rows))


TABLES = {
    "calls": calls,
    "postgres": calls,
    "sizes": lambda m: headed("Larger results", m, lanes(m["rows"], "bytes", "clients")),
    "tools": lambda m: headed("With 1,000 tools", m, lanes(m["rows"], "tools", "clients")),
    "stdio": lambda m: headed("A warm child against one per call", m, lanes(m["rows"], "clients")),
    "slow_commits": slow_commits,
    "decisions": decisions,
    "idle": idle,
    "abandoned": abandoned,
    "instructions": instructions,
    "peers": peers,
}
