import type * as v from 'valibot';
import type { EventsPage, IdentityJson, SessionJson } from '../../json/account.ts';
import type { CreationOptionsJson, FactorsJson, PendingLoginJson, StartedAppJson } from '../../json/factors.ts';
import type { CurrentUserJson } from '../../json/fields.ts';

/** The payloads of the routes that pages show, by their names. */
export type Payloads = {
  readonly 'current-user': v.InferInput<typeof CurrentUserJson>;
  readonly sessions: readonly v.InferInput<typeof SessionJson>[];
  readonly factors: v.InferInput<typeof FactorsJson>;
  readonly 'passkey-options': v.InferInput<typeof CreationOptionsJson>;
  readonly 'pending-login': v.InferInput<typeof PendingLoginJson>;
  readonly events: v.InferInput<typeof EventsPage>;
  readonly identities: readonly v.InferInput<typeof IdentityJson>[];
};

/** What a form hands to the page to which it leads: what was wrong, or what is shown once. */
export type FormResult = {
  readonly form: string;
  /** The error of the form, and its status. */
  readonly error?: {
    readonly code: string;
    readonly status: number;
    /** Seconds. */
    readonly retryAfter?: number;
    /** What the operator says about it. */
    readonly message?: string;
    readonly fields: readonly { readonly field: string; readonly code: string }[];
  };
  /** What was typed, without passwords and codes. */
  readonly typed?: Readonly<Record<string, string>>;
  readonly notice?: string;
  /** The payload that the page shows once. */
  readonly payload?: unknown;
  /** The session that alone is shown it, as it may be a secret; without it, nobody was logged in. */
  readonly session?: string | undefined;
};

/** What the forms of a page depend on. */
export type PageFacts = {
  readonly state: FormResult | null;
  readonly payloads: Partial<Payloads>;
  /** Whether somebody is logged in. */
  readonly isVisitor: boolean;
  /** Whether the service lets visitors register. */
  readonly mayRegister: boolean;
  /** Whether users need a password. */
  readonly passwords: 'required' | 'optional';
  /** The names of the pages that there are. */
  readonly pages: ReadonlySet<string>;
  /** Whether this browser has seen the offer of a passkey lately. */
  readonly wasOffered: boolean;
  /** The form by which somebody has logged in here the last time. */
  readonly usedLast: string | undefined;
};

/** An app that is being added. Its form has it, so that it is still there after a wrong code. */
export const startedApp = ({ state }: Pick<PageFacts, 'state'>): Readonly<Record<string, string>> => {
  const { id, secret, uri } = (state?.payload ?? state?.typed ?? {}) as Partial<v.InferOutput<typeof StartedAppJson>>;
  return id === undefined || secret === undefined || uri === undefined ? {} : { id, secret, uri };
};

export const isStarted = (facts: PageFacts): boolean => startedApp(facts).id !== undefined;
