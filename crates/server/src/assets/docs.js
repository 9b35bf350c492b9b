"use strict";
// Renders the OpenAPI document as a plain list of operations.
const make = (tag, text, kind) => { const node = document.createElement(tag); if (text) node.textContent = text; if (kind) node.className = kind; return node; };

function operation(path, method, described) {
  const box = make("details");
  const line = make("summary");
  line.append(make("span", method.toUpperCase(), "method"), make("code", path), make("span", ` ${described.summary}`));
  box.append(line, make("p", described.description));
  const inputs = described.parameters.map((p) => [`${p.name} (${p.in})`, p.required, p.description]);
  const body = described.requestBody?.content["application/json"].schema;
  for (const [name, schema] of Object.entries(body?.properties ?? {})) inputs.push([name, (body.required ?? []).includes(name), schema.description]);
  if (inputs.length) {
    const list = make("dl");
    for (const [name, required, text] of inputs) list.append(make("dt", required ? `${name} *` : name), make("dd", text ?? ""));
    box.append(list);
  }
  return box;
}

fetch("/openapi.json").then((response) => response.json()).then((api) => {
  const areas = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, described] of Object.entries(methods)) {
      const area = described.tags[0];
      if (!areas.has(area)) areas.set(area, []);
      areas.get(area).push(operation(path, method, described));
    }
  }
  const target = document.getElementById("operations");
  target.replaceChildren();
  for (const [area, boxes] of [...areas].sort()) target.append(make("h2", area), ...boxes);
}).catch((error) => { document.getElementById("operations").replaceChildren(make("p", error.message, "bad")); });
