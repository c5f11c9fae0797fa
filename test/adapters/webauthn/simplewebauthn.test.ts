// Proves nist-3

import { simpleWebAuthn } from '../../../src/adapters/webauthn/simplewebauthn.ts';
import { describeWebAuthn } from '../../contracts/webauthn.contract.ts';

describeWebAuthn('simpleWebAuthn', simpleWebAuthn);
