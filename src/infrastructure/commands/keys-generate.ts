import { KEY_VARIABLES } from '../config/token-keys.ts';
import { newPair, privatePem, publicPem } from '../keys/new-keys.ts';
import { envLine, type Page } from './pages.ts';

/** Two new key pairs: each key as PEM, and all four as lines of an environment file. */
export const generateKeys = (): Page[] => {
  const pairs = (['access', 'refresh'] as const).map((kind) => {
    const { privateKey, publicKeys } = newPair();
    return { kind, ...KEY_VARIABLES[kind], privateText: privatePem(privateKey), publicText: publicPem(publicKeys) };
  });
  const files = pairs.flatMap(({ kind, privateText, publicText }) => [
    { name: `${kind}-private.pem`, text: privateText },
    { name: `${kind}-public.pem`, text: publicText },
  ]);
  const lines = pairs.flatMap(({ privateKey, publicKeys, privateText, publicText }) => [
    envLine(privateKey, privateText),
    envLine(publicKeys, publicText),
  ]);
  return [...files, { name: 'keys.env', text: `${lines.join('\n')}\n` }];
};
