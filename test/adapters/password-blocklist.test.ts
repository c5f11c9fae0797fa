import { zxcvbnPasswordBlocklist } from '../../src/adapters/password-blocklist/zxcvbn.ts';
import { describePasswordBlocklist } from '../contracts/password-blocklist.contract.ts';

describePasswordBlocklist('zxcvbnPasswordBlocklist', zxcvbnPasswordBlocklist, [
  'password',
  '12345678',
  'qwertyuiop',
  'iloveyou',
  'trustno1',
]);
