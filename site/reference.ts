import { ADVICE } from '../src/adapters/http/pages/advice.ts';
import { CATALOG, type ErrorCode } from '../src/domain/errors/catalog.ts';
import { readText } from '../test/support/checkout/repository.ts';

// biome-ignore lint/suspicious/noExplicitAny: the members of an OpenAPI document
type Json = Record<string, any>;

const document: Json = JSON.parse(readText('docs/openapi.json'));
const CODES = Object.keys(CATALOG).toSorted() as ErrorCode[];

const linkTo = (each: string) => `[${each}](../docs/errors.md#${each.toLowerCase()})`;
const block = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
const table = (title: string, rows: readonly string[]) =>
  rows.length > 0 && `| ${title} | Type | Rules |\n|---|---|---|\n${rows.join('\n')}`;

const resolve = ({ $ref = '', ...value }: Json): Json => {
  const [, , kind, name] = $ref.split('/');
  return name === undefined ? value : document.components[kind][name];
};
const typeOf = (schema: Json): string => {
  const { type, const: only, enum: values = only === undefined ? undefined : [only], format, anyOf } = resolve(schema);
  if (anyOf) return anyOf.map(typeOf).join(' or ');
  return values?.map((each: unknown) => `\`${each}\``).join(', ') ?? format ?? type ?? 'any';
};
const row = ({ name, required, schema }: Json) => {
  const { description = '', minLength = 0, maxLength } = resolve(schema);
  const rules = `${description}${maxLength ? ` ${minLength} to ${maxLength} characters.` : ''}`.trim();
  return `| \`${name}\`${required ? '' : ', optional'} | ${typeOf(schema)} | ${rules.replaceAll('|', '\\|')} |`;
};
/** A row for each member, also of objects and lists in it. */
const rowsOf = (schema: Json, prefix = ''): string[] => {
  const { properties = {}, required = [], anyOf = [], items } = resolve(schema);
  return [
    ...[...anyOf, ...(items ? [items] : [])].flatMap((each) => rowsOf(each, prefix)),
    ...Object.entries<Json>(properties).flatMap(([name, member]) => [
      row({ name: prefix + name, required: required.includes(name), schema: member }),
      ...rowsOf(member, `${prefix}${name}.`),
    ]),
  ];
};

/** The routes, each with its codes and their statuses. */
const operations: Json[] = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
  Object.entries<Json>(item).map(([method, operation]) => {
    const codes = Object.entries<Json>(operation.responses).flatMap(([status, response]) =>
      Object.keys(resolve(response).content?.['application/json']?.examples ?? {}).map((name) => ({ name, status })),
    );
    return { ...operation, title: `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`, codes };
  }),
);
const common = CODES.filter((each) => operations.every(({ codes }) => codes.some((of: Json) => of.name === each)));

const section = (operation: Json): string => {
  const { title, summary, description = '', security, requestBody, codes } = operation;
  const body = requestBody?.content['application/json'];
  const parameters = operation.parameters.map(resolve).filter((each: Json) => each.in !== 'header');
  const [status, success] = Object.entries<Json>(operation.responses)[0] ?? ['', {}];
  const [type, { schema, example } = {} as Json] = Object.entries<Json>(success.content ?? {})[0] ?? [];
  const isEnveloped = schema?.properties?.success !== undefined;
  const errors = codes.filter(({ name }: Json) => !common.includes(name));
  const tokens = security.map((each: Json) => Object.keys(each).join(' and ') || 'none').join(', or ') || 'none';
  return [
    `## ${title}\n\n${summary}. ${description}\n\nToken: ${tokens}. Limit: ${operation['x-rate-limit']}.`,
    table('Parameter', parameters.map(row)),
    body && table('Body', rowsOf(body.schema)),
    body?.example && block(body.example),
    `**${status}**, \`${type}\``,
    schema && table(isEnveloped ? 'Data' : 'Response', rowsOf(isEnveloped ? schema.properties.data : schema)),
    example && typeof example !== 'string' && block(isEnveloped ? example.data : example),
    errors.length > 0 && `Errors: ${errors.map((each: Json) => `${each.status} ${linkTo(each.name)}`).join(', ')}`,
  ]
    .filter(Boolean)
    .join('\n\n');
};

/** The pages of the reference: one for each tag of the OpenAPI document, by its name. */
export const referencePages: [string, string][] = document.tags.map(({ name, description }: Json) => {
  const sections = operations.filter(({ tags }) => tags.includes(name)).map(section);
  const head = `# Routes: ${name}\n\n${description} Any of them may also answer ${common.map(linkTo).join(', ')}.`;
  return [name, `${[head, ...sections].join('\n\n')}\n`];
});

/** The catalog of errors, a section for each code. */
export const catalogSections = (): string =>
  CODES.map((name) => {
    const { status, retryable, description } = CATALOG[name];
    return `### ${name}\n\n${status}${retryable ? ', retryable' : ''}. ${description}\n\n${ADVICE[name]}\n`;
  }).join('\n');
