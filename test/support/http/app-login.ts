import { hash, randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { Visitor } from './page-visitor.ts';
import { unescaped } from './shown-forms.ts';

export const APP_LINK = 'com.example.app:/signed-in';

/** An app that begins a log-in: its verifier, and the link with the challenge. */
export const anApp = (link = APP_LINK) => {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = hash('sha256', verifier, 'base64url');
  return { verifier, challenge, to: `${link}?code_challenge=${challenge}` };
};

/** Where the page goes on to that the browser has opened last. */
export const ahead = ({ answers }: Pick<Visitor, 'answers'>): string =>
  unescaped(/content="0; url=([^"]*)"/.exec(answers.at(-1)?.text ?? '')?.[1] ?? '');

/** Clicks on the page of the app, where the browser is already. @returns the code that the app gets */
export const codeOnPage = async (browser: Visitor): Promise<string> => {
  await browser.submit('app.app');
  await browser.follow();
  return new URL(ahead(browser)).searchParams.get('code') ?? expect.unreachable('the link has no code');
};

/** What an app gets for which a browser that is logged in opens the page. */
export const codeFor = async (browser: Visitor, to: string): Promise<string> => {
  await browser.open(`/auth/app?${new URLSearchParams({ to })}`);
  return codeOnPage(browser);
};
