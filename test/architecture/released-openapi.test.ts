import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/adapters/http/openapi/components.ts';
import { ROOT, readText } from '../support/checkout/repository.ts';
import { brokenPromises } from '../support/openapi/broken-promises.ts';
import { currentDocument } from '../support/openapi/current-document.ts';

const current = await currentDocument();
const released = globSync('test/released/*/openapi.json', { cwd: ROOT });

describe('the OpenAPI document', () => {
  it.each(released)('keeps what clients of %s rely on', (path) => {
    expect(brokenPromises(JSON.parse(readText(path)), current)).toEqual([]);
  });

  const text = JSON.stringify(current);
  const changed = (part: string, other: string): Json => {
    expect(text).toContain(part);
    return JSON.parse(text.replaceAll(part, other));
  };
  it.each([
    ['a route', '"/auth/login":', '"/auth/log-in":', /^POST \/auth\/login is gone$/],
    ['a member of an answer', '"emailVerified":{', '"isEmailVerified":{', /emailVerified: boolean$/],
    ['a member of a request', '"currentPassword":{', '"oldPassword":{', / does not take currentPassword$/],
    ['a status', '"201":{', '"200":{', / 201$/],
  ])('would not keep them without %s', (_what, part, other, problem) => {
    expect(brokenPromises(current, changed(part, other))).toContainEqual(expect.stringMatching(problem));
  });

  it.each([
    ['a longer text', '"maxLength":2048', '"maxLength":4096', / proof: maxLength$/],
    ['a request without a member', '"required":["account","password"]', '"required":["account"]', / needs password$/],
  ])('would not keep those of a version that took %s', (_what, part, other, problem) => {
    expect(brokenPromises(changed(part, other), current)).toContainEqual(expect.stringMatching(problem));
  });
});
