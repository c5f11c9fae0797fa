import { STATUS_CODES } from 'node:http';
import { AppError, FIELD_CODES } from '../../../domain/errors/app-error.ts';
import { CATALOG, type ErrorCode } from '../../../domain/errors/catalog.ts';
import { errorEnvelopeOf } from '../envelope.ts';
import { httpFailure } from '../errors/exceptions.ts';
import type { Site } from '../pages/layout.ts';
import type { Components, Json } from './components.ts';
import { EXAMPLE_ID, EXAMPLE_TIME } from './examples.ts';

const TEXT = { type: 'string' };
const TIMESTAMP = { type: 'string', format: 'date-time', description: 'ISO 8601, UTC.' };

const objectOf = (properties: Json, optional: readonly string[] = []): Json => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
});

const CONTEXT = objectOf(
  {
    requestId: { ...TEXT, description: 'The value of the header svc-request-id.' },
    version: { ...TEXT, description: 'The version of the service.' },
    user: { ...objectOf({ id: TEXT, username: TEXT }), description: 'Present for an authenticated request.' },
    binding: { const: 'browser', description: 'Present after a refresh that the key of the browser has proven.' },
  },
  ['user', 'binding'],
);

const contextSchema = (components: Components): Json => components.refer('schemas', 'Context', CONTEXT);

const exampleContext = ({ version }: Site) => ({ requestId: EXAMPLE_ID, version });

/** SPEC "Success envelope". */
export const successSchema = (data: Json, components: Components): Json =>
  objectOf({ success: { const: true }, data, timestamp: TIMESTAMP, context: contextSchema(components) });

export const successExample = (data: unknown, site: Site) => ({
  success: true,
  data,
  timestamp: EXAMPLE_TIME,
  context: exampleContext(site),
});

const FIELD_PROBLEM = {
  ...objectOf({ field: TEXT, message: TEXT, code: { ...TEXT, enum: Object.keys(FIELD_CODES) } }),
  description: 'A problem with one field: its dotted path, a message for people, and a stable word for programs.',
};

/** SPEC "Error envelope", of one code. */
export const errorSchema = (code: ErrorCode, components: Components): Json => {
  const details =
    code === 'CLIENT_PARAMS_VALIDATION_FAILED'
      ? { type: 'array', minItems: 1, items: components.refer('schemas', 'FieldProblem', FIELD_PROBLEM) }
      : { type: 'null' };
  const envelope = objectOf({
    success: { const: false },
    code: { const: code },
    message: { ...TEXT, description: 'For people; it may be reworded.' },
    type: { ...TEXT, format: 'uri', description: 'The address of the code in the catalog.' },
    timestamp: TIMESTAMP,
    context: contextSchema(components),
    details,
  });
  return components.refer('schemas', code, { ...envelope, description: CATALOG[code].description });
};

/** One code with one status, as the service sends it. */
export const errorExample = (code: ErrorCode, status: number, site: Site, components: Components): Json => {
  const clock = { now: () => Date.parse(EXAMPLE_TIME) };
  const error = exampleErrorOf(code, status);
  const value = errorEnvelopeOf(error, exampleContext(site), { baseUrl: site.baseUrl, clock });
  const own = status === CATALOG[code].status;
  const summary = own ? CATALOG[code].message : `${STATUS_CODES[status]}`;
  return components.refer('examples', own ? code : `${code}_${status}`, { summary, value });
};

const exampleErrorOf = (code: ErrorCode, status: number): AppError => {
  if (code === 'SYS_HTTP_UNEXPECTED_ERROR') return httpFailure(status);
  if (code !== 'CLIENT_PARAMS_VALIDATION_FAILED') return new AppError(code);
  return new AppError(code, { details: [{ field: 'username', message: 'is required', code: 'required' }] });
};
