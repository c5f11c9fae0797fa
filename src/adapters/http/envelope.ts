import type { Context } from 'koa';
import type { Clock } from '../../application/ports/clock-and-ids.ts';
import type { AppError } from '../../domain/errors/app-error.ts';

type EnvelopeContext = {
  readonly requestId: string;
  readonly version: string;
  /** Present for an authenticated request. */
  readonly user?: { readonly id: string; readonly username: string };
  /** Present after a refresh that the key of the browser has proven (ADR 0006). */
  readonly binding?: 'browser';
};

/** The URI of a code in the catalog: the `type` of an error envelope, and the URL of `GET /errors/:code`. */
export const errorUri = (baseUrl: string, code: string): string => `${baseUrl}/errors/${code}`;

const timestamp = (clock: Clock): string => new Date(clock.now()).toISOString();

/** SPEC "Success envelope". */
export const successEnvelopeOf = (ctx: Context, data: unknown, clock: Clock) => ({
  success: true,
  data,
  timestamp: timestamp(clock),
  context: contextOf(ctx),
});

/** SPEC "Error envelope". */
export const errorEnvelopeOf = (
  error: AppError,
  context: EnvelopeContext,
  { baseUrl, clock }: { readonly baseUrl: string; readonly clock: Clock },
) => ({
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
