import type { Context } from 'koa';
import type { Clock } from '../../application/ports/clock.ts';
import type { AppError, FieldProblem } from '../../domain/errors/app-error.ts';

type EnvelopeContext = {
  readonly requestId: string;
  readonly version: string;
  /** Present for an authenticated request. */
  readonly user?: { readonly id: string; readonly username: string };
  /** Present after a refresh that the key of the browser has proven (ADR 0057). */
  readonly binding?: 'browser';
};

/** SPEC "Success envelope". */
export type SuccessEnvelope = {
  readonly success: true;
  readonly data: unknown;
  readonly timestamp: string;
  readonly context: EnvelopeContext;
};

/** SPEC "Error envelope". */
export type ErrorEnvelope = {
  readonly success: false;
  readonly code: string;
  readonly message: string;
  readonly type: string;
  readonly timestamp: string;
  readonly context: EnvelopeContext;
  readonly details: readonly FieldProblem[] | null;
};

/** The URI of a code in the catalog: the `type` of an error envelope, and the URL of `GET /errors/:code`. */
export const errorUri = (baseUrl: string, code: string): string => `${baseUrl}/errors/${code}`;

const timestamp = (clock: Clock): string => new Date(clock.now()).toISOString();

export const successEnvelopeOf = (ctx: Context, data: unknown, clock: Clock): SuccessEnvelope => ({
  success: true,
  data,
  timestamp: timestamp(clock),
  context: contextOf(ctx),
});

export const errorEnvelopeOf = (
  error: AppError,
  context: EnvelopeContext,
  { baseUrl, clock }: { readonly baseUrl: string; readonly clock: Clock },
): ErrorEnvelope => ({
  success: false,
  code: error.code,
  message: error.message,
  type: errorUri(baseUrl, error.code),
  timestamp: timestamp(clock),
  context,
  details: error.details,
});

export const contextOf = ({ request: { id, version, jwtClaim }, state: { binding } }: Context): EnvelopeContext => ({
  requestId: id,
  version,
  ...(jwtClaim && { user: { id: jwtClaim.user.id, username: jwtClaim.user.username } }),
  ...(binding && { binding }),
});
