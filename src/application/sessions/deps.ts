import type { BindBrowserDeps } from './bind-browser.ts';
import type { AuthenticateDeps, CurrentUserDeps } from './current-user.ts';
import type { LogoutDeps } from './logout.ts';
import type { EndOtherSessionsDeps, ListSessionsDeps } from './manage-sessions.ts';
import type { MintAccessTokenDeps } from './mint-access-token.ts';
import type { RefreshDeps } from './refresh.ts';

/** What the use cases of sessions need. */
export type SessionsDeps = AuthenticateDeps &
  CurrentUserDeps &
  RefreshDeps &
  MintAccessTokenDeps &
  LogoutDeps &
  ListSessionsDeps &
  EndOtherSessionsDeps &
  Omit<BindBrowserDeps, 'boundCookieLifetime'>;
