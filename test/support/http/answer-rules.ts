import * as v from 'valibot';
import type { Route } from '../../../src/adapters/http/routing/define-route.ts';
import { CATALOG } from '../../../src/domain/errors/catalog.ts';
import type { Exchanged } from './exchange.ts';

const Context = v.strictObject({
  requestId: v.string(),
  version: v.string(),
  user: v.optional(v.strictObject({ id: v.string(), username: v.string() })),
});
const Timestamp = v.pipe(v.string(), v.isoTimestamp());

/** SPEC "Success envelope". */
const Success = v.strictObject({ success: v.literal(true), data: v.unknown(), timestamp: Timestamp, context: Context });

/** SPEC "Error envelope". */
const Failure = v.pipe(
  v.strictObject({
    success: v.literal(false),
    code: v.picklist(Object.keys(CATALOG)),
    message: v.pipe(v.string(), v.minLength(1)),
    type: v.string(),
    timestamp: Timestamp,
    context: Context,
    details: v.nullable(
      v.pipe(v.array(v.strictObject({ field: v.string(), message: v.string(), code: v.string() })), v.minLength(1)),
    ),
  }),
  v.check(({ code, details }) => (details !== null) === (code === 'CLIENT_PARAMS_VALIDATION_FAILED')),
  v.check(({ code, type }) => type.endsWith(`/errors/${code}`)),
);

const PROTECTION = [
  'content-security-policy',
  'strict-transport-security',
  'x-content-type-options',
  'x-frame-options',
];
const INTERNALS = /\n\s+at |node_modules|\/src\/|\bselect .* from\b|insert into|postgres|\.ts:\d/i;

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

/** @returns the rules for every response of the service that this one breaks. */
export const brokenRules = (
  { status, headers, body }: Exchanged,
  method: string,
  routes: readonly Route[],
): string[] => {
  const bare = method === 'HEAD' || status === 204 || status === 304;
  const page = headers['content-type'] === 'text/html; charset=utf-8' && body.startsWith('<!doctype html>');
  const json = parsed(body);
  const envelope = v.safeParse(status < 400 ? Success : Failure, json);
  const stored = (headers['cache-control'] ?? 'no-store') !== 'no-store';
  const unwrapped = routes.some(({ response }) => response.unwrapped?.type === headers['content-type']);
  const rules: Readonly<Record<string, boolean>> = {
    'no fault of the service': status >= 200 && status < 500,
    'an id, unless caches store it': stored === (headers['svc-request-id'] === undefined),
    'protective headers': PROTECTION.every((name) => headers[name] !== undefined),
    'an envelope': bare ? body === '' : envelope.success || page || (status < 400 && unwrapped),
    'the id of its header': !envelope.success || envelope.output.context.requestId === headers['svc-request-id'],
    'no internal details': !INTERNALS.test(body),
  };
  return Object.keys(rules).filter((rule) => !rules[rule]);
};
