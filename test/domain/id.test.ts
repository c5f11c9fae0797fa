import { describe, expect, it } from 'vitest';
import { isId } from '../../src/domain/user.ts';

const ID = '01J0AZ3456789BCDEFGHJKMNPQ';

describe('isId', () => {
  it.each([ID, '00000000000000000000000000', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'])('accepts a ULID: %s', (id) => {
    expect(isId(id)).toBe(true);
  });

  it.each([
    ['with a trailing space', `${ID} `],
    ['with a leading space', ` ${ID}`],
    ['with a trailing line break', `${ID}\n`],
    ['in lower case', ID.toLowerCase()],
    ['of 25 characters', ID.slice(1)],
    ['of 27 characters', `${ID}0`],
    ['with a letter outside Crockford base32', ID.replace('A', 'I')],
    ['of more than 128 bits', ID.replace('0', '8')],
    ['with a space as its last character', ID.replace(/.$/, ' ')],
    ['that is empty', ''],
  ])('rejects %s', (_what, text) => {
    expect(isId(text)).toBe(false);
  });
});
