import { createServer } from 'node:http';
import { HOST, port } from './environment.ts';

/** As much as the others send, and no work at all: what the load client can ask for at most. */
const BODY = JSON.stringify({ accessToken: 'x'.repeat(500), user: {} });

createServer((request, response) => {
  if (request.method === 'POST')
    response.setHeader('Set-Cookie', `refresh_token=${'x'.repeat(300)}; Path=/auth; HttpOnly`);
  response.setHeader('Content-Type', 'application/json');
  request.resume();
  response.end(BODY);
}).listen(port(), HOST);
