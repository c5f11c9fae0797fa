import type { Check } from '../check.ts';
import {
  bodyOf,
  dataOf,
  errorOf,
  expectIsoTime,
  expectMembers,
  expectText,
  expectTime,
  expectUlid,
  hold,
  isObject,
  show,
} from '../expectations.ts';
import { UNKNOWN_PATH } from '../world.ts';

const ERROR_MEMBERS = ['success', 'code', 'message', 'type', 'timestamp', 'context', 'details'];

const FRAMEWORK = [
  'Exception mapping',
  '| HTTP exception of the framework | the original one | `SYS_HTTP_UNEXPECTED_ERROR` |',
] as const;

export const envelopes: readonly Check[] = [
  {
    id: 'success-envelope',
    source: ['Success envelope', '| `success` | boolean, `true` |'],
    title: 'successes have exactly the members success, data, timestamp and context',
    run: async ({ successes }) => {
      for (const reply of await successes()) {
        dataOf(reply);
        const body = bodyOf(reply);
        expectMembers(body, ['success', 'data', 'timestamp', 'context'], 'the success envelope');
        expectTime(body.timestamp, 'timestamp');
        hold(isObject(body.context), 'context as an object', body.context);
      }
    },
  },
  {
    id: 'error-envelope',
    source: ['Error envelope', '| `success` | boolean | `false` |'],
    title: 'errors have exactly the members of the error envelope',
    run: async ({ errors }) => {
      for (const [reply, code] of await errors()) {
        hold(reply.status >= 400, 'a status of 4xx', `${reply.status} (${reply.to}, ${code})`);
        const body = bodyOf(reply);
        expectMembers(body, ERROR_MEMBERS, 'the error envelope');
        hold(body.success === false, '"success": false', body.success);
        expectText(body.message, 'message');
      }
    },
  },
  {
    id: 'error-code',
    source: ['Errors', 'A code has the form `{DOMAIN}_{NOUN}_{CONDITION}`.'],
    title: 'errors have the code of the catalog',
    run: async ({ errors }) => {
      for (const [reply, code] of await errors())
        hold(bodyOf(reply).code === code, `code ${code} (${reply.to})`, bodyOf(reply).code);
    },
  },
  {
    id: 'error-type',
    source: ['Error envelope', 'the URI `{base_url}/errors/<code>`'],
    title: 'type is an absolute address that ends in /errors/<code>',
    run: async ({ errors }) => {
      for (const [reply, code] of await errors()) {
        const type = expectText(bodyOf(reply).type, 'type');
        hold(URL.canParse(type) && type.endsWith(`/errors/${code}`), `an address that ends in /errors/${code}`, type);
      }
    },
  },
  {
    id: 'error-timestamp',
    source: ['Error envelope', '| `timestamp` | string | ISO 8601 |'],
    title: 'the timestamp of errors is in ISO 8601',
    run: async ({ errors }) => {
      for (const [reply] of await errors()) expectIsoTime(bodyOf(reply).timestamp, 'timestamp');
    },
  },
  {
    id: 'error-context',
    source: ['Error envelope', '`requestId` (string, ULID), `version` (string)'],
    title: 'the context of errors has the request id, which is that of the header, and the version',
    run: async ({ errors }) => {
      for (const [reply] of await errors()) {
        const { context } = bodyOf(reply);
        hold(isObject(context), 'context as an object', context);
        expectUlid(context.requestId, 'context.requestId');
        hold(
          context.requestId === reply.headers['svc-request-id'],
          'the id of the header svc-request-id',
          context.requestId,
        );
        expectText(context.version, 'context.version');
        hold(!('user' in context), 'no user, since the requests are not authenticated', context);
      }
    },
  },
  {
    id: 'error-details',
    source: ['Error envelope', 'an array only with `CLIENT_PARAMS_VALIDATION_FAILED`'],
    title: 'details is a list of { field, message, code } for failed validations, else null',
    run: async ({ errors }) => {
      for (const [reply, code] of await errors()) {
        const { details } = bodyOf(reply);
        if (code !== 'CLIENT_PARAMS_VALIDATION_FAILED') hold(details === null, `details: null (${code})`, details);
        else {
          hold(Array.isArray(details) && details.length > 0, 'details as a list', details);
          for (const detail of details) {
            hold(isObject(detail), 'objects in details', detail);
            expectMembers(detail, ['field', 'message', 'code'], 'a detail');
            for (const name of ['field', 'message', 'code'])
              hold(typeof detail[name] === 'string', `${name} as a string`, detail);
          }
        }
      }
    },
  },
  {
    id: 'constant-version',
    source: ['Versioning', 'The version of the application is a constant.'],
    title: 'all errors name the same version',
    run: async ({ errors }) => {
      const contexts = (await errors()).map(([reply]) => bodyOf(reply).context);
      const versions = new Set(contexts.map((context) => (isObject(context) ? context.version : undefined)));
      hold(versions.size === 1, 'one version', show([...versions]));
    },
  },
  {
    id: 'unknown-path',
    source: FRAMEWORK,
    title: 'a path that does not exist answers 404 SYS_HTTP_UNEXPECTED_ERROR',
    run: async ({ send }) => {
      errorOf(await send({ method: 'GET', path: UNKNOWN_PATH }), 404, 'SYS_HTTP_UNEXPECTED_ERROR');
    },
  },
  {
    id: 'unknown-method',
    source: FRAMEWORK,
    title: 'a path that exists with another method answers 405 or 404, SYS_HTTP_UNEXPECTED_ERROR',
    run: async ({ send }) => {
      const reply = await send({ method: 'DELETE', path: '/errors' });
      errorOf(reply, reply.status === 404 ? 404 : 405, 'SYS_HTTP_UNEXPECTED_ERROR');
    },
  },
];
