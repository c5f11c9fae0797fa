import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { isJson, type Json } from '../../src/adapters/http/openapi/components.ts';
import { readText } from '../support/checkout/repository.ts';
import { asText, currentDocument, DOCUMENT, documentOfOffice } from '../support/openapi/current-document.ts';

const document = await currentDocument();

/** A route that does nothing but lead to another page has no success of its own. */
const REDIRECTING = '#/paths/~1.well-known~1change-password/get/responses';

/** Problems that the linter reports, with every rule of its strictest set and that one exception. It reads no file and no network. */
const problemsOf = async (source: string): Promise<string[]> => {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const problems = await lintFromString({ source, absoluteRef: DOCUMENT, config });
  const isException = ({ ruleId, location }: (typeof problems)[number]) =>
    ruleId === 'operation-2xx-response' && location[0]?.pointer === REDIRECTING;
  return problems
    .filter((problem) => !isException(problem))
    .map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`);
};

const operations = Object.entries(document.paths as Record<string, Record<string, Json>>).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ title: `${method.toUpperCase()} ${path}`, operation })),
);

describe('the OpenAPI document', () => {
  it('is docs/openapi.json, which `npm run docs` writes', () => {
    expect(asText(document)).toBe(readText(DOCUMENT));
  });

  it('satisfies the linter', async () => {
    expect(await problemsOf(asText(document))).toEqual([]);
  });

  it('of the back office does so as well', async () => {
    const office = await documentOfOffice();
    expect(Object.keys(office.paths as object).length).toBeGreaterThan(20);
    expect(await problemsOf(asText(office))).toEqual([]);
  });

  it.each([
    ['an unknown reference', (text: string) => text.replace('schemas/Context"', 'schemas/Contex"')],
    ['an example that is not one', (text: string) => text.replace('"username": "ada"', '"username": 1')],
    ['no operationId', (text: string) => text.replace('"operationId": "register",', '')],
  ])('would not satisfy it with %s', async (_what, spoilt) => {
    const text = asText(document);
    expect(spoilt(text)).not.toBe(text);
    expect(await problemsOf(spoilt(text))).not.toEqual([]);
  });

  it('bounds what a client counts and what it sends of a link', () => {
    const members: readonly (readonly [string, unknown])[] = operations.flatMap(({ operation }) => {
      const { parameters, requestBody } = operation as { parameters: Json[]; requestBody?: Json };
      const body = (requestBody?.content as Record<string, { schema: Json }> | undefined)?.['application/json']?.schema;
      return [
        ...parameters.map(({ name, schema }) => [String(name), schema] as const),
        ...Object.entries(isJson(body?.properties) ? body.properties : {}),
      ];
    });
    const schemasOf = (wanted: string) => members.filter(([name]) => name === wanted).map(([, schema]) => schema);
    expect(schemasOf('limit')).toEqual([expect.objectContaining({ type: 'integer', minimum: 1, maximum: 100 })]);
    const { minLength, maxLength } = schemasOf('token')[0] as Json;
    expect({ minLength, maxLength }).toEqual({ minLength: 1, maxLength: expect.any(Number) });
    for (const schema of schemasOf('token')) expect(schema).toMatchObject({ minLength, maxLength });
  });

  it.each(operations)('has examples of $title: its body, its success, and each code', ({ operation }) => {
    const { requestBody, responses } = operation as { requestBody?: Json; responses: Record<string, Json> };
    const media = [requestBody, ...Object.values(responses)].flatMap((each) =>
      isJson(each?.content) ? Object.values<unknown>(each.content) : [],
    ) as Json[];
    for (const { example, examples, schema } of media) {
      if (examples === undefined) expect(example, 'some member has none: v.examples').toBeDefined();
      else
        expect(Object.keys(examples as Json)).toHaveLength(
          ((schema as Json).oneOf as unknown[] | undefined)?.length ?? 1,
        );
    }
  });
});
