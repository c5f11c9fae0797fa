import type * as v from 'valibot';
import type { UserForPages } from '../../../application/sessions/current-user.ts';
import type { EventsPage, IdentityJson, SessionJson } from '../../json/account.ts';
import type { CreationOptionsJson, FactorsJson, PendingLoginJson, StartedAppJson } from '../../json/factors.ts';
import type { CurrentUserJson } from '../../json/fields.ts';

/** The payloads that pages need, by the names of the routes that return them. */
export type Payloads = {
  readonly 'current-user': v.InferInput<typeof CurrentUserJson> & Pick<UserForPages, 'hasPassword' | 'missing'>;
  readonly sessions: readonly v.InferInput<typeof SessionJson>[];
  readonly factors: v.InferInput<typeof FactorsJson>;
  readonly 'passkey-options': v.InferInput<typeof CreationOptionsJson>;
  readonly 'pending-login': v.InferInput<typeof PendingLoginJson>;
  readonly events: v.InferInput<typeof EventsPage>;
  readonly identities: readonly v.InferInput<typeof IdentityJson>[];
};

/** What the next page says and fills in, for instance the result of a form: an error, a notice, texts, or a payload. */
export type FormResult = {
  readonly form: string;
  readonly error?: {
    readonly code: string;
    readonly status: number;
    /** Seconds. */
    readonly retryAfter?: number;
    /** The message of the operator's hook, which refused the request. */
    readonly message?: string;
    readonly fields: readonly { readonly field: string; readonly code: string }[];
  };
  /** The texts of fields, typed or hidden, by the names of the fields, without passwords and codes. */
  readonly typed?: Readonly<Record<string, string>>;
  readonly notice?: string;
  readonly payload?: unknown;
  /** The result, which may be a secret, is only shown in the session with this id. Default: to any visitor. */
  readonly session?: string | undefined;
};

/** The facts that decide which forms a page has, and what they contain. */
export type PageFacts = {
  readonly state: FormResult | null;
  readonly payloads: Partial<Payloads>;
  /** Whether the visitor was identified as logged in, with a proof of the key of the session if that is needed. */
  readonly isVisitor: boolean;
  /** Whether people may register without an invitation. */
  readonly mayRegister: boolean;
  readonly passwords: 'required' | 'optional';
  /** The names of the pages that the service has. */
  readonly pages: ReadonlySet<string>;
  /** Whether a page has offered a passkey to this browser within a month. */
  readonly wasOfferedPasskey: boolean;
  /** The value of the cookie `used_last` (`lastUse` in flow.ts). */
  readonly lastUsedForm: string | undefined;
};

/** The authenticator app that the user is adding; empty: none. The form sends it, too, so that the page can show it again after a wrong code. */
export const startedApp = ({ state }: Pick<PageFacts, 'state'>): Readonly<Record<string, string>> => {
  const { id, secret, uri } = (state?.payload ?? state?.typed ?? {}) as Partial<v.InferOutput<typeof StartedAppJson>>;
  return id === undefined || secret === undefined || uri === undefined ? {} : { id, secret, uri };
};

export const hasStartedApp = (facts: PageFacts): boolean => startedApp(facts).id !== undefined;
