import type * as v from 'valibot';
import type { ShownUser } from '../../../application/sessions/current-user.ts';
import type { EventsPage, IdentityJson, SessionJson } from '../../json/account.ts';
import type { CreationOptionsJson, FactorsJson, PendingLoginJson, StartedAppJson } from '../../json/factors.ts';
import type { CurrentUserJson } from '../../json/fields.ts';

/** The payloads that pages show, by the names of their routes. */
export type Payloads = {
  readonly 'current-user': v.InferInput<typeof CurrentUserJson> & Pick<ShownUser, 'hasPassword' | 'missing'>;
  readonly sessions: readonly v.InferInput<typeof SessionJson>[];
  readonly factors: v.InferInput<typeof FactorsJson>;
  readonly 'passkey-options': v.InferInput<typeof CreationOptionsJson>;
  readonly 'pending-login': v.InferInput<typeof PendingLoginJson>;
  readonly events: v.InferInput<typeof EventsPage>;
  readonly identities: readonly v.InferInput<typeof IdentityJson>[];
};

/** What a form hands to the next page: its error, or what is shown once. */
export type FormResult = {
  readonly form: string;
  readonly error?: {
    readonly code: string;
    readonly status: number;
    /** Seconds. */
    readonly retryAfter?: number;
    /** The reason that the operator's hook has given. */
    readonly message?: string;
    readonly fields: readonly { readonly field: string; readonly code: string }[];
  };
  /** What was typed, without passwords and codes. */
  readonly typed?: Readonly<Record<string, string>>;
  readonly notice?: string;
  /** The payload that the page shows once. */
  readonly payload?: unknown;
  /** The only session that is shown the result, which may be a secret. Default: any. */
  readonly session?: string | undefined;
};

/** What the forms of a page depend on. */
export type PageFacts = {
  readonly state: FormResult | null;
  readonly payloads: Partial<Payloads>;
  /** Whether somebody is logged in. */
  readonly isVisitor: boolean;
  /** Whether anybody may register. */
  readonly mayRegister: boolean;
  readonly passwords: 'required' | 'optional';
  /** The names of the pages that the service has. */
  readonly pages: ReadonlySet<string>;
  /** Whether this browser was offered a passkey lately. */
  readonly wasOffered: boolean;
  /** The form of the last log-in in this browser. */
  readonly usedLast: string | undefined;
};

/** The app that is being added. Its form sends it as well, so that it is not lost by a wrong code. */
export const startedApp = ({ state }: Pick<PageFacts, 'state'>): Readonly<Record<string, string>> => {
  const { id, secret, uri } = (state?.payload ?? state?.typed ?? {}) as Partial<v.InferOutput<typeof StartedAppJson>>;
  return id === undefined || secret === undefined || uri === undefined ? {} : { id, secret, uri };
};

export const isStarted = (facts: PageFacts): boolean => startedApp(facts).id !== undefined;
