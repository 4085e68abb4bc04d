/**
 * What is used of node:http. An `import` of node:http reads all of its exports, one of which is a WebSocket that Node
 * makes of its own copy of undici when it is read: 3.5 MB of a process that has no use for it.
 */
export const { Agent, createServer, request } = process.getBuiltinModule("node:http");
