import { nodeCryptoOneTimePasswords } from '../../src/adapters/crypto/one-time-passwords.ts';
import { describeOneTimePasswords } from '../contracts/one-time-passwords.contract.ts';

describeOneTimePasswords('nodeCryptoOneTimePasswords', nodeCryptoOneTimePasswords);
