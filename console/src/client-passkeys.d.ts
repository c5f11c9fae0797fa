/** The types of `/client-passkeys.js`, which the page imports from the service. */
export * from '../../client/src/passkeys.ts';
