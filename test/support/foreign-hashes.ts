import others from '../adapters/crypto/foreign-hashes.json' with { type: 'json' };
import { readText } from './checkout/repository.ts';

const [, ...lines] = readText('test/adapters/crypto/foreign-hashes.tsv').trimEnd().split('\n');

/** Password hashes made by other libraries. Where the column `made by` says `in the form of`, the library's output was converted. */
export const facts = {
  ...others,
  hashes: lines.map((line) => {
    const [madeBy = '', password = '', hash = ''] = line.split('\t');
    return { madeBy, password, hash };
  }),
};
