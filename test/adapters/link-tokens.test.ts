import { randomLinkTokens } from '../../src/adapters/crypto/link-tokens.ts';
import { describeLinkTokens } from '../contracts/link-tokens.contract.ts';

describeLinkTokens('randomLinkTokens', randomLinkTokens);
