/** The types of `/client.js`, which the page imports from the service. */
export * from '../../client/src/index.ts';
