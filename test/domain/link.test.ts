import { expect, it } from 'vitest';
import { survivesUndo } from '../../src/domain/link.ts';

it.each([
  [['a', 'b'], { id: 'a', createdAt: 9 }, true],
  [['a', 'b'], { id: 'c', createdAt: 1 }, false],
  [[], { id: 'a', createdAt: 1 }, false],
  [null, { id: 'a', createdAt: 4 }, true],
  [null, { id: 'a', createdAt: 5 }, false],
  [null, { id: 'a' }, false],
])('an undo that keeps %j, or else what is older than 5, keeps %j: %j', (keeps, way, survives) => {
  expect(survivesUndo({ keeps, since: 5 }, way)).toBe(survives);
});
