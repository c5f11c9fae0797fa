import { hash, randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { Visitor } from './page-visitor.ts';
import { unescaped } from './shown-forms.ts';

export const APP_LINK = 'com.example.app:/signed-in';

/** The PKCE values of an app that begins a log-in. `to` is the link of the app with the challenge. */
export const anApp = (link = APP_LINK) => {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = hash('sha256', verifier, 'base64url');
  return { verifier, challenge, to: `${link}?code_challenge=${challenge}` };
};

/** The URL to which the last opened page redirects by its meta tag. */
export const nextUrlOf = ({ answers }: Pick<Visitor, 'answers'>): string =>
  unescaped(/content="0; url=([^"]*)"/.exec(answers.at(-1)?.text ?? '')?.[1] ?? '');

/** Submits the open page that asks whether to log in to the app. @returns the code that the app gets */
export const codeOnPage = async (browser: Visitor): Promise<string> => {
  await browser.submit('app.app');
  await browser.follow();
  return new URL(nextUrlOf(browser)).searchParams.get('code') ?? expect.unreachable('the link has no code');
};

/** Opens the page for the link `to` of an app in a logged-in browser, and submits it. @returns the code that the app gets */
export const codeFor = async (browser: Visitor, to: string): Promise<string> => {
  await browser.open(`/auth/app?${new URLSearchParams({ to })}`);
  return codeOnPage(browser);
};
