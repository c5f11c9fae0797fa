import { onClick } from './actions.ts';
import { byId, copy, make } from './dom.ts';
import type { Exchange } from './exchange.ts';

/** The card of recovery codes. @returns functions that show those of an answer that has some, and forget them. */
export const showRecoveryCodes = (): { readonly of: (exchange: Exchange) => void; readonly clear: () => void } => {
  const [card, list] = [byId('codes'), byId('codes-list')];
  const clear = (): void => {
    card.hidden = true;
    list.replaceChildren();
  };
  onClick(byId('copy-codes'), () => copy([...list.children].map(({ textContent }) => textContent).join('\n')));
  onClick(byId('forget-codes'), async () => {
    clear();
    byId('factors-summary').focus();
  });
  return {
    clear,
    of: ({ answer }) => {
      const codes = (answer as Answer)?.data?.recoveryCodes;
      if (!Array.isArray(codes) || codes.length === 0) return;
      list.replaceChildren(...codes.map((code: string) => make('li', {}, make('code', {}, code))));
      card.hidden = false;
      byId('codes-title').focus();
    },
  };
};

/** `recoveryCodes` is also the number of those that are left. */
type Answer = { readonly data?: { readonly recoveryCodes?: unknown } | null } | null;
