import type { Json } from '../openapi/components.ts';

/** The parts of an OpenAPI document that the page shows, with all references resolved. */
export type Described = {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly operations: readonly Operation[];
  /** By the name of the component. */
  readonly headers: Readonly<Record<string, Header>>;
  /** By the code, or by the code and a status. */
  readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
};

export type Operation = {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** Alternatives. An empty one means that no token is needed. */
  readonly security: readonly string[][];
  readonly parameters: readonly Parameter[];
  readonly body: Media | undefined;
  /** Whether a success may set or clear the refresh cookie. */
  readonly setsCookie: boolean;
  readonly responses: readonly Response[];
};

type Header = { readonly description: string };

export type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly schema: Json;
};

type Media = { readonly schema: Json; readonly example?: unknown };

export type Response = {
  readonly status: number;
  /** The codes of an error response. */
  readonly codes: readonly string[];
  readonly headers: readonly string[];
  readonly mediaTypes: readonly string[];
  readonly example: unknown;
};

/** Reads a document of this service, so its form is known. */
export const readDocument = (document: Json): Described => {
  const { info, tags, paths, components } = withoutReferences(document, document) as Raw;
  return {
    info,
    tags,
    operations: Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => readOperation(method.toUpperCase(), path, operation)),
    ),
    headers: components.headers,
    examples: components.examples,
  };
};

type Raw = Pick<Described, 'info' | 'tags'> & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: Pick<Described, 'headers' | 'examples'>;
};
type RawOperation = {
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly summary: string;
  readonly security: readonly Json[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, RawResponse>>;
};
type RawResponse = {
  readonly headers: Json;
  readonly content?: Readonly<Record<string, { readonly example?: unknown; readonly examples?: Json }>>;
};

/** No schema of the service contains itself. */
const withoutReferences = (node: unknown, document: Json): unknown => {
  if (Array.isArray(node)) return node.map((item) => withoutReferences(item, document));
  if (typeof node !== 'object' || node === null) return node;
  if ('$ref' in node) return withoutReferences(named(String(node.$ref), document), document);
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, withoutReferences(value, document)]));
};

const named = (reference: string, document: Json): unknown =>
  reference
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>((node, name) => (node as Json)[name], document);

const readOperation = (method: string, path: string, raw: RawOperation): Operation => ({
  id: raw.operationId,
  method,
  path,
  tag: raw.tags[0],
  summary: raw.summary,
  security: raw.security.map((alternative) => Object.keys(alternative)),
  parameters: raw.parameters,
  body: raw.requestBody?.content['application/json'],
  setsCookie: Object.values(raw.responses).some(({ headers }) => 'Set-Cookie' in headers),
  responses: Object.entries(raw.responses).map(([status, response]) => readResponse(Number(status), response)),
});

const readResponse = (status: number, { headers, content = {} }: RawResponse): Response => {
  const [first] = Object.values(content);
  return {
    status,
    codes: Object.keys(first?.examples ?? {}),
    headers: Object.keys(headers),
    mediaTypes: Object.keys(content),
    example: first?.example,
  };
};
