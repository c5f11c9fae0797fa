import { ADVICE } from '../src/adapters/http/pages/advice.ts';
import { CATALOG, type ErrorCode } from '../src/domain/errors/catalog.ts';

type Json = Record<string, any>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** The pages of the reference: one for each tag of the OpenAPI document, by its name. */
export const referencePages = (document: Json): Map<string, string> => {
  const resolve = (value: Json): Json =>
    value.$ref
      ? value.$ref
          .slice(2)
          .split('/')
          .reduce((at: Json, name: string) => at[name.replaceAll('~1', '/')], document)
      : value;
  const operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map(
      (method) => ({ method: method.toUpperCase(), path, ...item[method] }) as Json,
    ),
  );
  const codesOf = ({ responses }: Json): string[] =>
    Object.entries<Json>(responses).flatMap(([status, response]) =>
      Object.keys(resolve(response).content?.['application/json']?.examples ?? {}).map((code) => `${status} ${code}`),
    );
  const common = codesOf(operations[0]!).filter((code) => operations.every((each) => codesOf(each).includes(code)));

  /** A row for each member, also of objects and lists in it. */
  const members = (schema: Json, prefix = ''): string[] => {
    const { properties = {}, required = [], anyOf, items } = resolve(schema);
    if (anyOf) return anyOf.flatMap((each: Json) => members(each, prefix));
    if (items) return members(items, prefix.replace(/\.$/, '[].'));
    return Object.entries<Json>(properties).flatMap(([name, value]) => [
      `| \`${prefix}${name}\`${required.includes(name) ? '' : '?'} | ${typeOf(resolve(value))} | ${rulesOf(resolve(value))} |`,
      ...members(value, `${prefix}${name}.`),
    ]);
  };
  const typeOf = ({ type, enum: values, const: only, format, anyOf }: Json): string => {
    if (anyOf) return anyOf.map((each: Json) => typeOf(resolve(each))).join(' or ');
    return only !== undefined
      ? code(only)
      : values
        ? values.map(code).join(', ')
        : (format ?? [type ?? 'any'].flat().join(' or '));
  };
  const table = (title: string, rows: string[]) =>
    rows.length === 0 ? '' : `| ${title} | Type | Rules |\n|---|---|---|\n${rows.join('\n')}\n`;
  const parameters = (operation: Json, place: string) =>
    operation.parameters
      .map(resolve)
      .filter((each: Json) => each.in === place && each.name !== 'svc-request-id')
      .map(
        (each: Json) =>
          `| \`${each.name}\`${each.required ? '' : '?'} | ${typeOf(resolve(each.schema))} | ${rulesOf(resolve(each.schema))} |`,
      );

  const section = (operation: Json): string => {
    const { method, path, summary, description = '', security, requestBody } = operation;
    const body = requestBody?.content['application/json'];
    const [status, success] = Object.entries<Json>(operation.responses)[0]!;
    const [type = '', answer] = Object.entries<Json>(resolve(success).content ?? {})[0] ?? [];
    const data = resolve(answer?.schema ?? {}).properties?.data ?? answer?.schema ?? {};
    const example = answer?.example?.success === true ? answer.example.data : answer?.example;
    const own = codesOf(operation).filter((each) => !common.includes(each));
    return [
      `## ${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      `${summary}. ${description}`,
      `Token: ${tokens(security)}. Limit: ${operation['x-rate-limit'] ?? 'none'}.`,
      table('Path', parameters(operation, 'path')),
      table('Query', parameters(operation, 'query')),
      body && table('Body', members(body.schema)),
      body?.example && json(body.example),
      `**${status}**${type === 'application/json' ? '' : `, \`${type}\``}`,
      table('Data', members(data)),
      example !== undefined && typeof example !== 'string' ? json(example) : '',
      own.length > 0 && `Errors: ${own.map((each) => errorLink(each)).join(', ')}`,
    ]
      .filter(Boolean)
      .join('\n\n');
  };
  return new Map(
    document.tags.map(({ name, description }: Json) => [
      name,
      `# ${name.charAt(0).toUpperCase() + name.slice(1)}\n\n${description} Every route may also answer ${common.map((each) => errorLink(each)).join(', ')}.\n\n${operations
        .filter(({ tags }) => tags.includes(name))
        .map(section)
        .join('\n\n')}\n`,
    ]),
  );
};

const code = (value: unknown) => `\`${value}\``;
const json = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
const errorLink = (each: string) => `[${each}](../docs/errors.md#${each.split(' ')[1]?.toLowerCase()})`;
const tokens = (security: Json[]) => security.map((each) => Object.keys(each)[0] ?? 'none').join(' or ') || 'none';

const RULES = {
  minLength: 'at least $ characters',
  maxLength: 'at most $ characters',
  minimum: 'at least $',
  maximum: 'at most $',
};
const rulesOf = (schema: Json): string =>
  [
    ...(schema.description ? [schema.description.replaceAll('|', '\\|')] : []),
    ...Object.entries(RULES).flatMap(([name, text]) => (name in schema ? [text.replace('$', schema[name])] : [])),
  ].join('; ');

/** The catalog of errors, a section for each code. */
export const catalogSections = (): string =>
  Object.entries(CATALOG)
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(
      ([name, { status, retryable, description }]) =>
        `### ${name}\n\n${status}${retryable ? ', retryable' : ''}. ${description}\n\n${ADVICE[name as ErrorCode]}\n`,
    )
    .join('\n');
