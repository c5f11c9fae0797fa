import type { Sent } from './curl.ts';

/** A request of the page and its answer. */
export type Exchange = Sent & {
  /** `null`: there was no response. */
  readonly status: number | null;
  /** The error code of the service. */
  readonly code: string | null;
  readonly requestId: string | null;
  /** Milliseconds. */
  readonly duration: number;
  /** Parsed JSON; text if it is none. */
  readonly answer: unknown;
};

/** `fetch` that reports what it has sent and received. */
export const watchedFetch =
  (report: (exchange: Exchange) => void): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init);
    const copy = request.clone();
    const start = performance.now();
    const response = await fetch(request).catch(async (error: unknown) => {
      report({ ...(await sentBy(copy)), ...UNANSWERED, duration: performance.now() - start, answer: String(error) });
      throw error;
    });
    const duration = performance.now() - start;
    const answer = parsed(await response.clone().text());
    report({
      ...(await sentBy(copy)),
      status: response.status,
      code: (answer as { readonly code?: string } | null)?.code ?? null,
      requestId: response.headers.get('svc-request-id'),
      duration,
      answer,
    });
    return response;
  };

const UNANSWERED = { status: null, code: null, requestId: null };

const sentBy = async (request: Request): Promise<Sent> => ({
  method: request.method,
  url: request.url,
  authorization: request.headers.get('Authorization'),
  body: (await request.text()) || null,
});

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};
