/** The types of `/client-account.js`, which the page imports from the service. */
export * from '../../client/src/account.ts';
