/** `import 'node:http'` would read each of its exports. One of them loads undici: a tenth of the processor time of a start, and 8 MiB of memory. */
export const { createServer, IncomingMessage, ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http');
