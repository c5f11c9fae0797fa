import { describe, expect, it } from 'vitest';
import { isId } from '../../src/domain/id.ts';

const ID = '01J0AZ3456789BCDEFGHJKMNPQ';

describe('isId', () => {
  it.each([ID, '00000000000000000000000000', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'])('accepts a ULID: %s', (id) => {
    expect(isId(id)).toBe(true);
  });

  it.each([
    ['with a blank behind it', `${ID} `],
    ['with a blank before it', ` ${ID}`],
    ['with a line break behind it', `${ID}\n`],
    ['in lower case', ID.toLowerCase()],
    ['of 25 characters', ID.slice(1)],
    ['of 27 characters', `${ID}0`],
    ['with a letter that Crockford left out', ID.replace('A', 'I')],
    ['of more than 128 bits', ID.replace('0', '8')],
    ['with a blank for its last character', ID.replace(/.$/, ' ')],
    ['that is empty', ''],
  ])('rejects %s', (_what, text) => {
    expect(isId(text)).toBe(false);
  });
});
