import type { Check } from '../check.ts';
import { bodyOf, errorOf, expectUlid, hold, isObject, show } from '../expectations.ts';
import { UNKNOWN_PATH, type World } from '../world.ts';

const SECURITY_HEADERS = ['content-security-policy', 'strict-transport-security', 'x-frame-options'];
const OWN_ID = '01JZZZZZZZ0123456789ABCDEF';

/** One response of every kind. */
const everyKind = async (world: World) => [
  ...(await world.successes()),
  ...(await world.errors()).map(([reply]) => reply),
  await world.send({ method: 'OPTIONS', path: '/errors' }),
];

const fieldsOf = (details: unknown): string[] =>
  Array.isArray(details) ? details.map((detail) => (isObject(detail) ? String(detail.field) : '')) : [];

/** Each of the names has to be in the field of a detail: `password`, `body.password` and the like. */
const expectFields = (details: unknown, names: readonly string[]): void => {
  const fields = fieldsOf(details);
  const missing = names.filter((name) => !fields.some((field) => field.split(/[^\w]+/).includes(name)));
  hold(missing.length === 0, `details for ${names.join(', ')}`, `details for ${show(fields)}`);
};

export const requestProcessing: readonly Check[] = [
  {
    id: 'security-headers',
    source: ['Request processing shared by all endpoints', 'a content security policy, HSTS, `X-Frame-Options`'],
    title: 'every response has a content security policy, HSTS and X-Frame-Options',
    run: async (world) => {
      for (const { headers, to } of await everyKind(world))
        for (const name of SECURITY_HEADERS) hold(headers[name] !== undefined, `the header ${name}`, `none (${to})`);
    },
  },
  {
    id: 'new-request-id',
    source: [
      'Request processing shared by all endpoints',
      'if not, the id is a new ULID of 26 alphanumeric characters',
    ],
    title: 'every response has a new ULID in svc-request-id',
    run: async (world) => {
      const replies = await everyKind(world);
      const ids = replies.map(({ headers }) => headers['svc-request-id']);
      for (const [index, id] of ids.entries()) expectUlid(id, `svc-request-id (${replies[index]?.to})`);
      hold(new Set(ids).size === ids.length, 'an id of its own for each request', show(ids));
    },
  },
  {
    id: 'given-request-id',
    source: ['Request processing shared by all endpoints', 'its value is the request id'],
    title: 'the request id of the client is used, in the header and in errors',
    run: async ({ send }) => {
      const headers = { 'svc-request-id': OWN_ID };
      const success = await send({ method: 'GET', path: '/errors', headers });
      hold(
        success.headers['svc-request-id'] === OWN_ID,
        `svc-request-id: ${OWN_ID}`,
        success.headers['svc-request-id'],
      );
      const error = await send({ method: 'GET', path: UNKNOWN_PATH, headers });
      const { context } = bodyOf(error);
      hold(isObject(context) && context.requestId === OWN_ID, `requestId ${OWN_ID} in the error`, context);
    },
  },
  {
    id: 'validation-missing',
    source: ['Request processing shared by all endpoints', '`CLIENT_PARAMS_VALIDATION_FAILED`, 400, with `details`'],
    title: 'register and log-in without their members answer 400, with a detail for each member',
    run: async ({ send }) => {
      for (const [path, names] of [
        ['/auth/register', ['username', 'email', 'password']],
        ['/auth/login', ['account', 'password']],
      ] as const) {
        const reply = await send({ method: 'POST', path, body: {} });
        expectFields(errorOf(reply, 400, 'CLIENT_PARAMS_VALIDATION_FAILED').details, names);
      }
    },
  },
  {
    id: 'validation-types',
    source: ['Endpoints', 'JSON body with `username`, `email` and `password`, all strings, all required'],
    title: 'register with members of other types answers 400, with a detail for each member',
    run: async ({ send }) => {
      const body = { username: 1, email: ['a@example.org'], password: { $ne: null } };
      const reply = await send({ method: 'POST', path: '/auth/register', body });
      const { details } = errorOf(reply, 400, 'CLIENT_PARAMS_VALIDATION_FAILED');
      expectFields(details, ['username', 'email', 'password']);
    },
  },
  {
    id: 'malformed-body',
    source: ['Errors', 'Every error uses the "Error envelope".'],
    title: 'a body that is no JSON answers 400',
    run: async ({ send }) => {
      const reply = await send({ method: 'POST', path: '/auth/login', body: '{"account":' });
      errorOf(reply, 400, 'CLIENT_PARAMS_VALIDATION_FAILED', 'SYS_HTTP_UNEXPECTED_ERROR');
    },
  },
];
