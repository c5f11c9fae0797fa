import { describe } from 'vitest';
import { zxcvbnPasswordBlocklist } from '../../src/adapters/crypto/password-blocklist.ts';
import { describePasswordBlocklist } from '../contracts/password-blocklist.contract.ts';

describe('the list of common passwords', () => {
  describePasswordBlocklist('zxcvbnPasswordBlocklist', async () => zxcvbnPasswordBlocklist(), [
    'password',
    '12345678',
    'qwertyuiop',
    'iloveyou',
    'trustno1',
  ]);
});
