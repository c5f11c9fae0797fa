import type { RequestListener } from 'node:http';
import request, { type Response } from 'supertest';
import type { Route } from '../../../src/adapters/http/routing/define-route.ts';
import { readText } from '../checkout/repository.ts';
import { type Answer, type AnswerCheck, answerCheck, answerCheckOf } from './answer-check.ts';

let check: AnswerCheck | undefined;

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head'] as const;

/** A supertest client of a service. */
export type Http = Pick<ReturnType<typeof request>, (typeof METHODS)[number]>;

/** @throws Error if an answer of a service does not match docs/openapi.json */
export const assertDocumented = (method: string, path: string, answer: Answer): void => {
  check ??= answerCheck(JSON.parse(readText('docs/openapi.json')));
  const problems = check(method, path, answer);
  if (problems.length > 0) {
    throw new Error(`${method} ${path} ${answer.status} is not as documented: ${problems.join('; ')}`);
  }
};

/** A supertest client of a service in another process. A request fails if the answer does not match docs/openapi.json. */
export const documentedHttp = (url: string): Http => checkedHttp(url, assertDocumented);

/** A supertest client of an application with only these routes. A request fails if the answer does not match what they declare. */
export const declaredHttp = (application: RequestListener, routes: readonly Route[]): Http => {
  const ofRoutes = answerCheckOf(routes);
  return checkedHttp(application, (method, path, answer) => {
    const problems = ofRoutes(method, path, answer);
    if (problems.length > 0) throw new Error(`${method} ${path} ${answer.status}: ${problems.join('; ')}`);
  });
};

const checkedHttp = (target: string | RequestListener, assert: typeof assertDocumented): Http => {
  const http = request(target);
  const assertFits = (response: Response & { readonly req?: { method: string; path: string } }): void => {
    const { method = '', path = '' } = response.req ?? {};
    const body = method === 'HEAD' ? '' : response.text;
    assert(method, path, { status: response.status, headers: response.headers, body });
  };
  const ask = (method: (typeof METHODS)[number]) => (path: string) => http[method](path).expect(assertFits);
  return Object.fromEntries(METHODS.map((method) => [method, ask(method)])) as Http;
};
