import others from '../adapters/crypto/foreign-hashes.json' with { type: 'json' };
import { readText } from './checkout/repository.ts';

const [, ...lines] = readText('test/adapters/crypto/foreign-hashes.tsv').trimEnd().split('\n');

/** Hashes as the named libraries made them. Where a library does not write a form itself, its output was put into that form. */
export const facts = {
  ...others,
  hashes: lines.map((line) => {
    const [madeBy = '', password = '', hash = ''] = line.split('\t');
    return { madeBy, password, hash };
  }),
};
