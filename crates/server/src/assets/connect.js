"use strict";
// Sends a person off to sign in to a server. The key is the person's own; what comes back is an address, and a cookie only the server reads.
const by = (name) => document.getElementById(name);
const status = (text, kind) => { const line = by("status"); line.textContent = text; line.className = kind || ""; };

async function go() {
  status("One moment …");
  try {
    const headers = { authorization: `Bearer ${sessionStorage.getItem("key")}` };
    const response = await fetch(location.pathname, { method: "POST", headers });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.detail || response.statusText);
    const url = new URL(answer.url);
    if (url.protocol !== "https:" && url.protocol !== "http:") throw new Error("The server names an address no browser may be sent to.");
    location.assign(url);
  } catch (error) {
    sessionStorage.removeItem("key");
    status(error.message, "bad");
    by("key").focus();
  }
}

by("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("key", by("key").value.trim());
  by("key").value = "";
  go();
});
by("key").focus();
