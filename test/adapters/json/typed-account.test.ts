import { expect, it } from 'vitest';
import { typedAccount } from '../../../src/adapters/json/fields.ts';

it.each([
  [' jo@bücher.example\u200b', 'jo@xn--bcher-kva.example'],
  ['Jo@BU\u0308CHER。Example', 'Jo@xn--bcher-kva.example'],
  ['jo@ｅｘａｍｐｌｅ.рф', 'jo@example.xn--p1ai'],
  ['jo@straße.example', 'jo@xn--strae-oqa.example'],
  ['jo@xn--bcher-kva.example', 'jo@xn--bcher-kva.example'],
])('an international domain is written in ASCII: %s', (typed, meant) => {
  expect(typedAccount(typed)).toBe(meant);
});

it.each([
  ...['jo', 'jo@', '@', 'bücher', 'jo@bücher.example/x', 'jo@bücher.example:80', 'jo@b%C3%BCcher.example', 'jo@a b.ü'],
  ...['jo@xn--a.ü.example', 'jo@a\u200db.ü', `jo@${'ü'.repeat(254)}`],
])('what is no such domain stays as it is: %s', (text) => {
  expect(typedAccount(text)).toBe(text);
});
