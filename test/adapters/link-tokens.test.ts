import { randomLinkTokens } from '../../src/adapters/link-tokens/random.ts';
import { describeLinkTokens } from '../contracts/link-tokens.contract.ts';

describeLinkTokens('randomLinkTokens', randomLinkTokens);
