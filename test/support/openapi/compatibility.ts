import { isJson, type Json } from '../../../src/adapters/http/openapi/components.ts';
import { requestReasons, responseReasons } from './fit.ts';
import { resolved } from './resolved.ts';

type Operation = {
  readonly parameters: readonly Json[];
  readonly requestBody?: Json;
  readonly responses: Readonly<Record<string, Json>>;
  readonly security: readonly Json[];
};

/**
 * What of the current document breaks a client of the released one, a line each. A request that was valid has to stay valid,
 * and a response has to stay one that was announced. Clients judge unknown codes by their status, so new codes break nothing.
 */
export const breakingChanges = (released: Json, current: Json): string[] => {
  const now = operationsOf(current);
  return [...operationsOf(released)].flatMap(([title, before]) => {
    const after = now.get(title);
    return after === undefined
      ? [`${title}: removed`]
      : operationChanges(before, after).map((change) => `${title}: ${change}`);
  });
};

const operationsOf = (document: Json): Map<string, Operation> =>
  new Map(
    Object.entries(document.paths as Json).flatMap(([path, item]) =>
      Object.entries(item as Json).map(([method, operation]): [string, Operation] => [
        `${method.toUpperCase()} ${path}`,
        resolved(operation, document) as Operation,
      ]),
    ),
  );

const operationChanges = (before: Operation, after: Operation): string[] => [
  ...securityChanges(before, after),
  ...parameterChanges(before, after),
  ...bodyChanges(before, after),
  ...Object.entries(before.responses).flatMap(([status, response]) => {
    const now = after.responses[status];
    return now === undefined
      ? [`${status}: removed`]
      : responseChanges(response, now).map((each) => `${status}: ${each}`);
  }),
];

/** A client that satisfied one of the alternatives has to satisfy one now. */
const securityChanges = (before: Operation, after: Operation): string[] => {
  const satisfied = (sent: Json, needed: readonly Json[]) =>
    needed.length === 0 || needed.some((each) => Object.keys(each).every((scheme) => scheme in sent));
  const sent = before.security.length === 0 ? [{}] : before.security;
  return sent.every((each) => satisfied(each, after.security)) ? [] : ['security: more is required'];
};

const parameterChanges = (before: Operation, after: Operation): string[] => {
  const named = ({ parameters }: Operation) => new Map(parameters.map((each) => [`${each.in} ${each.name}`, each]));
  const [known, now] = [named(before), named(after)];
  const added = [...now].filter(([name, { required }]) => required === true && known.get(name)?.required !== true);
  return [
    ...added.map(([name]) => `${name}: is required now`),
    ...[...known].flatMap(([name, { schema }]) => {
      const parameter = now.get(name);
      return parameter === undefined
        ? [`${name}: removed`]
        : requestReasons(schema as Json, parameter.schema as Json, name);
    }),
  ];
};

const bodyChanges = (before: Operation, after: Operation): string[] => {
  if (before.requestBody === undefined) return after.requestBody?.required === true ? ['body: is required now'] : [];
  const sent = contentOf(before.requestBody);
  const accepted = contentOf(after.requestBody ?? {});
  return Object.entries(sent).flatMap(([type, schema]) =>
    accepted[type] === undefined ? [`body: ${type} is not accepted`] : requestReasons(schema, accepted[type], 'body'),
  );
};

const responseChanges = (before: Json, after: Json): string[] => {
  const [announced, sent] = [contentOf(before), contentOf(after)];
  const headers = Object.keys(before.headers as Json).filter((name) => !(name in (after.headers as Json)));
  return [
    ...headers.map((name) => `header ${name}: removed`),
    ...Object.keys(announced)
      .filter((type) => !(type in sent))
      .map((type) => `${type}: removed`),
    ...Object.entries(announced).flatMap(([type, schema]) => {
      const now = sent[type];
      if (now === undefined) return [];
      const gone = codesOf(schema).filter((code) => !codesOf(now).includes(code));
      return codesOf(schema).length > 0
        ? gone.map((code) => `code ${code}: removed`)
        : responseReasons(schema, now, 'body');
    }),
  ];
};

const contentOf = ({ content }: Json): Readonly<Record<string, Json>> =>
  Object.fromEntries(
    Object.entries(isJson(content) ? content : {}).map(([type, media]) => [type, (media as Json).schema as Json]),
  );

/** The codes of error envelopes; none for a success. */
const codesOf = (schema: Json): string[] => {
  const alternatives = Array.isArray(schema.oneOf) ? schema.oneOf : [schema];
  return alternatives.flatMap(({ properties }: Json) => {
    const code =
      isJson(properties) && isJson(properties.success) && properties.success.const === false && properties.code;
    return isJson(code) ? [String(code.const)] : [];
  });
};
