/** The claims of Tandem's tokens (SPEC "Resources and their fields"), so that every peer signs as much. */
export type User = {
  readonly id: string;
  readonly username: string;
  readonly email: string;
  readonly createdAt: string;
  readonly updatedAt: string;
};

export type AccessClaims = {
  readonly sub: string;
  readonly jti: string;
  readonly tokenType: 'access';
  readonly user: User;
};

/** `sid` is the session; `jti` is what the session has to say for the token to be the current one. */
export type RefreshClaims = {
  readonly sub: string;
  readonly jti: string;
  readonly sid: string;
  readonly tokenType: 'refresh';
};

/** Verification throws for a token that is not valid. */
export type Tokens = {
  readonly signAccess: (claims: AccessClaims) => string;
  readonly signRefresh: (claims: RefreshClaims) => string;
  readonly verifyAccess: (token: string) => AccessClaims;
  readonly verifyRefresh: (token: string) => RefreshClaims;
};
