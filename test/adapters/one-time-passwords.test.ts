import { nodeCryptoOneTimePasswords } from '../../src/adapters/one-time-passwords/node-crypto.ts';
import { describeOneTimePasswords } from '../contracts/one-time-passwords.contract.ts';

describeOneTimePasswords('nodeCryptoOneTimePasswords', nodeCryptoOneTimePasswords);
