import { countdown, durationText } from './countdown.ts';
import { byId, make } from './dom.ts';

type Claims = { readonly iat: number; readonly exp: number; readonly [name: string]: unknown };

/** Below this share a bar has the colour of a warning. */
const LOW = 0.2;

/**
 * The bars and the claims. Both tokens are issued at once, so the lifetimes of both are counted from the arrival of the access token.
 * @param refreshLifetime in milliseconds.
 * @returns a function that shows an access token that has just arrived.
 */
export const showTokens = (refreshLifetime: number): ((token: string) => void) => {
  let tick = (): void => undefined;
  setInterval(() => tick(), 1_000);
  return (token) => {
    const [header, claims] = token.split('.').slice(0, 2).map(decoded) as [Claims, Claims];
    const bars = [bar('access', (claims.exp - claims.iat) * 1_000), bar('refresh', refreshLifetime)];
    tick = () => {
      for (const show of bars) show();
    };
    tick();
    byId('claims').replaceChildren(
      ...Object.entries({ ...claims, sid: header.sid }).flatMap(([name, value]) => [
        make('dt', {}, name),
        make('dd', {}, claimText(name, value)),
      ]),
    );
  };
};

const decoded = (part: string): unknown => JSON.parse(atob(part.replaceAll('-', '+').replaceAll('_', '/')));

const claimText = (name: string, value: unknown): string => {
  if (name === 'iat' || name === 'exp') return `${value} (${new Date(Number(value) * 1_000).toLocaleString()})`;
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1);
};

const bar = (token: 'access' | 'refresh', lifetime: number): (() => void) => {
  const [progress, text] = [byId<HTMLProgressElement>(`${token}-bar`), byId(`${token}-left`)];
  const left = countdown(lifetime);
  progress.max = lifetime;
  return () => {
    progress.value = left();
    progress.classList.toggle('low', left() < lifetime * LOW);
    text.textContent =
      left() > 0
        ? `${durationText(left())} left of ${durationText(lifetime)}`
        : `expired, after ${durationText(lifetime)}`;
  };
};
