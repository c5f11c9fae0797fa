import type { Check, Part } from '../check.ts';
import { accountLife } from './account-life.ts';
import { accounts } from './accounts.ts';
import { catalog } from './catalog.ts';
import { crossOrigin } from './cross-origin.ts';
import { deviceBinding } from './device-binding.ts';
import { envelopes } from './envelopes.ts';
import { extended } from './extended.ts';
import { mailedLinks } from './mailed-links.ts';
import { rateLimits } from './rate-limits.ts';
import { refreshCookie } from './refresh-cookie.ts';
import { requestProcessing } from './request-processing.ts';
import { rotation } from './rotation.ts';
import { routeGuard } from './route-guard.ts';
import { tokens } from './tokens.ts';

type Group = { readonly name: string; readonly part: Part; readonly checks: readonly Check[] };

/** In the order in which they run. The rate limit comes last: it locks this client out. */
export const GROUPS: readonly Group[] = [
  { name: 'Accounts', part: 'specification', checks: accounts },
  { name: 'Envelopes', part: 'specification', checks: envelopes },
  { name: 'Error catalog', part: 'specification', checks: catalog },
  { name: 'Request processing', part: 'specification', checks: requestProcessing },
  { name: 'Cross-origin rules', part: 'specification', checks: crossOrigin },
  { name: 'Tokens', part: 'specification', checks: tokens },
  { name: 'Refresh cookie', part: 'specification', checks: refreshCookie },
  { name: 'Refresh procedure', part: 'specification', checks: rotation },
  { name: 'Route guard', part: 'specification', checks: routeGuard },
  { name: 'Decisions of Tandem', part: 'extended', checks: extended },
  { name: 'Links in mail', part: 'extended', checks: mailedLinks },
  { name: 'Sessions bound to a device', part: 'extended', checks: deviceBinding },
  { name: 'The life of an account', part: 'extended', checks: accountLife },
  { name: 'Rate limiting', part: 'rate-limits', checks: rateLimits },
];
