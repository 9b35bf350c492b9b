// Preloaded into Node.js programs of others, which like to listen on every interface: whatever they ask for, they get
// 127.0.0.1, and the port is said on standard error.
"use strict";

const net = require("node:net");

// Where `listen` ends up once it knows what to bind; unlike `listen` with a host, it binds at once, and callers that
// ask for their port in the next line get it.
const bind = net.Server.prototype._listen2;
const PIPE = -1;

net.Server.prototype._listen2 = function (address, port, family, ...rest) {
  if (family === PIPE) {
    return bind.call(this, address, port, family, ...rest);
  }
  this.once("listening", () => {
    process.stderr.write(`loopback port ${this.address().port}\n`);
  });
  return bind.call(this, "127.0.0.1", port, 4, ...rest);
};
