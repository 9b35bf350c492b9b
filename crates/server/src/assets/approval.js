"use strict";
// Shows one question and answers it with the person's own key. Text from tools and agents is only ever set as text.
const id = location.pathname.split("/").pop();
const by = (name) => document.getElementById(name);
const status = (text, kind) => { const line = by("status"); line.textContent = text; line.className = kind || ""; };

async function call(method, path, body) {
  const headers = { authorization: `Bearer ${sessionStorage.getItem("key")}` };
  if (body) headers["content-type"] = "application/json";
  const response = await fetch(path, { method, headers, body: body ? JSON.stringify(body) : undefined });
  const document = await response.json();
  if (!response.ok) throw new Error(document.detail || response.statusText);
  return document;
}

function show(approval) {
  by("enter").hidden = true;
  by("question").hidden = false;
  by("tool").textContent = `${approval.agent} wants to call ${approval.tool}`;
  const facts = [
    ["Why you are asked", approval.rule ? `${approval.reason_text} (rule ${approval.rule})` : approval.reason_text],
    ["Risk", approval.risk || "not known"],
    ["Server", approval.connection || "built in"],
    ["Asked", new Date(approval.created_at).toLocaleString()],
    ["Lapses", new Date(approval.expires_at).toLocaleString()],
    ["State", approval.state],
    ["Digest of the arguments", approval.arguments_digest],
  ];
  const list = by("facts");
  list.replaceChildren();
  for (const [name, value] of facts) {
    const term = document.createElement("dt");
    const text = document.createElement("dd");
    term.textContent = name;
    text.textContent = value;
    list.append(term, text);
  }
  const closed = approval.arguments === null;
  by("arguments").textContent = closed ? "Only the digest is kept once a question is closed." : visible(JSON.stringify(approval.arguments, null, 2));
  const open = approval.state === "pending";
  by("approve").disabled = by("deny").disabled = !open;
  if (open) by("deny").focus();
}

// Characters that hide or turn text around are written out, so that what is shown is what is sent.
function visible(text) {
  return text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

async function load() {
  try {
    show(await call("GET", `/api/v1/approvals/${id}`));
    status("");
  } catch (error) {
    sessionStorage.removeItem("key");
    by("enter").hidden = false;
    status(error.message, "bad");
  }
}

async function answer(decision) {
  by("approve").disabled = by("deny").disabled = true;
  const note = by("note").value.trim();
  try {
    show(await call("POST", `/api/v1/approvals/${id}/resolve`, note ? { decision, note } : { decision }));
    status(decision === "approved" ? "Approved. The agent's next, identical call goes through once." : "Denied.", "good");
  } catch (error) {
    status(error.message, "bad");
    await load();
  }
}

by("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("key", by("key").value.trim());
  by("key").value = "";
  load();
});
by("approve").addEventListener("click", () => answer("approved"));
by("deny").addEventListener("click", () => answer("denied"));
if (sessionStorage.getItem("key")) load(); else by("key").focus();
