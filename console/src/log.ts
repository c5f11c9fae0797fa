import { isAskedFor } from './actions.ts';
import { curlCommand, prettyAnswer } from './curl.ts';
import { byId, copy, make, say } from './dom.ts';
import type { Exchange } from './exchange.ts';

const MOST = 50;

/** The list of requests, the newest first. The last one that the user has asked for is open. @returns a function that adds one. */
export const showRequests = (): ((exchange: Exchange) => void) => {
  const [list, empty, reveal] = [byId('log'), byId('log-empty'), byId('reveal')];
  let revealed = false;
  let entries: readonly Entry[] = [];
  let asked: Entry | undefined;

  reveal.addEventListener('click', () => {
    revealed = !revealed;
    reveal.ariaPressed = `${revealed}`;
    for (const { write } of entries) write(revealed);
  });
  byId('clear').addEventListener('click', () => {
    entries = [];
    list.replaceChildren();
    empty.hidden = false;
    say('The list of requests is empty.');
  });
  return (exchange) => {
    const isAsked = isAskedFor(exchange);
    const entry = entryOf(exchange, isAsked);
    entry.write(revealed);
    if (isAsked) {
      if (asked) asked.details.open = false;
      asked = entry;
    }
    entries = [entry, ...entries].slice(0, MOST);
    list.prepend(make('li', {}, entry.details));
    while (list.children.length > MOST) list.lastElementChild?.remove();
    empty.hidden = true;
  };
};

type Entry = { readonly details: HTMLDetailsElement; readonly write: (revealed: boolean) => void };

const entryOf = (exchange: Exchange, isAsked: boolean): Entry => {
  const { url, method, status, code, requestId, duration } = exchange;
  const { pathname, search } = new URL(url);
  const [command, answer] = [make('pre', {}), make('pre', {})];
  const result = make('span', { className: status !== null && status < 400 ? 'good' : 'bad' }, `${status ?? 'failed'}`);
  const notes = [`${Math.round(duration)} ms`, ...(isAsked ? [] : ['sent by the console itself'])];
  const details = make(
    'details',
    { open: isAsked },
    make(
      'summary',
      {},
      make('code', {}, `${method} ${pathname}${search}`),
      ' ',
      result,
      ' ',
      ...(code === null ? [] : [make('code', {}, code), ' ']),
      make('span', { className: 'note' }, notes.join(', ')),
    ),
    make(
      'div',
      {},
      ...(requestId === null ? [] : [make('dl', {}, make('dt', {}, 'Request id'), make('dd', {}, requestId))]),
      make('h3', {}, 'curl', copyButton(command, `${method} ${pathname}`)),
      command,
      make('h3', {}, 'Answer'),
      answer,
    ),
  );
  const write = (revealed: boolean): void => {
    command.textContent = curlCommand(exchange, revealed);
    answer.textContent = prettyAnswer(exchange.answer, revealed);
  };
  return { details, write };
};

/** Browsers offer the clipboard to https and localhost only. */
const copyButton = (from: HTMLElement, of: string): Node => {
  if (!navigator.clipboard) return make('span', {});
  const button = make('button', { type: 'button', ariaLabel: `Copy the curl line of ${of}` }, 'Copy');
  button.addEventListener('click', () => copy(from.textContent ?? ''));
  return button;
};
