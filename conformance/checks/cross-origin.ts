import type { Check } from '../check.ts';
import type { Reply } from '../client.ts';
import { dataOf, expectHeader, expectList, hold } from '../expectations.ts';
import { Skipped } from '../outcome.ts';
import type { World } from '../world.ts';

export const OTHER_ORIGIN = 'https://not-allowed.invalid';

const originOf = ({ options }: World): string => {
  if (options.origin === undefined) throw new Skipped('name an allowed origin by --origin');
  return options.origin;
};

const expectCorsHeaders = (reply: Reply, origin: string): void => {
  expectHeader(reply, 'Access-Control-Allow-Origin', origin);
  expectList(reply, 'Access-Control-Allow-Methods', 'GET, POST, PUT, DELETE, PATCH, OPTIONS');
  expectList(reply, 'Access-Control-Allow-Headers', 'Content-Type, Authorization, svc-request-id');
  expectHeader(reply, 'Access-Control-Allow-Credentials', 'true');
  expectHeader(reply, 'Access-Control-Max-Age', '86400');
};

export const crossOrigin: readonly Check[] = [
  {
    id: 'cors-without-origin',
    source: ['Cross-origin rules', '| without `Origin`, as from a command line or a mobile application | allowed |'],
    title: 'a request without Origin is allowed',
    run: async ({ send }) => {
      dataOf(await send({ method: 'GET', path: '/errors' }));
    },
  },
  {
    id: 'cors-allowed',
    source: ['Cross-origin rules', '| with an `Origin` on the allow-list | allowed, with CORS response headers |'],
    title: 'a request of an allowed origin is allowed, with the CORS headers',
    run: async (world) => {
      const origin = originOf(world);
      const reply = await world.send({ method: 'GET', path: '/errors', headers: { origin } });
      dataOf(reply);
      expectCorsHeaders(reply, origin);
    },
  },
  {
    id: 'cors-refused',
    source: ['Cross-origin rules', '| with another `Origin` | 403 |'],
    title: 'a request of another origin answers 403, before its body is validated',
    run: async ({ send }) => {
      const headers = { origin: OTHER_ORIGIN };
      for (const request of [
        { method: 'GET', path: '/errors', headers },
        { method: 'POST', path: '/auth/login', headers, body: {} },
      ]) {
        const { status, to } = await send(request);
        hold(status === 403, '403', `${status} (${to}, Origin: ${OTHER_ORIGIN})`);
      }
    },
  },
  {
    id: 'cors-preflight',
    source: ['Cross-origin rules', '| `OPTIONS`, a preflight | 204 with the allow headers |'],
    title: 'a preflight answers 204 with the CORS headers',
    run: async (world) => {
      const origin = originOf(world);
      const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' };
      const reply = await world.send({ method: 'OPTIONS', path: '/auth/login', headers: { origin, ...asked } });
      hold(reply.status === 204, '204', `${reply.status} (${reply.to})`);
      expectCorsHeaders(reply, origin);
    },
  },
];
