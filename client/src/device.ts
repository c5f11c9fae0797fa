import { browser, type FrameWindow, ignore, sleep } from './host.ts';

/** What the page `/device-key` is asked for. */
export type ProofRequest = {
  readonly path: string;
  /** Whether to make a key if there is none. */
  readonly create: boolean;
  /** Whether the last proof was refused as no longer valid: the clock of this machine may be wrong. */
  readonly again: boolean;
  /** A request with an access token, to any service, instead of the path. */
  readonly use?: { readonly method: string; readonly url: string; readonly accessToken: string };
};

/** A proof; `null` where there is no key, and none can be made; `undefined` if the page did not answer, or could not read its store. */
type Proof = string | null | undefined;

/** Milliseconds until the frame has loaded, or has read the clock. */
const LOADING = 10_000;
/** Milliseconds from then until its page must have said that it is there. It does so while it loads; an error page never does. */
const READY = 500;
/** Milliseconds until it must have answered. It takes some 20, unless the browser holds back its storage. */
const ANSWER = 2_000;

/** The key of this device, which a page of the service holds in a hidden frame. */
export const device = (base: string) => {
  const host = browser();
  let frame: ReturnType<NonNullable<typeof host>['document']['createElement']> | undefined;
  let opened: Promise<FrameWindow | null> | undefined;

  const closeFrame = (): void => {
    frame?.remove();
    frame = undefined;
  };

  /** @returns `null` if the page is not there, or may not be framed here. */
  const open = async (page: NonNullable<typeof host>): Promise<FrameWindow | null> => {
    const { document } = page;
    const made = document.createElement('iframe');
    frame = made;
    const end = new AbortController();
    const ready = new Promise<true>((resolve) => {
      const hear = ({ source }: Event & { readonly source?: unknown }) =>
        source === made.contentWindow && resolve(true);
      page.addEventListener('message', hear, end);
    });
    const failed = new Promise((resolve) => {
      made.onload = resolve;
    }).then(() => sleep(READY));
    made.src = `${base}/device-key`;
    made.style.display = 'none';
    (document.body ?? document.documentElement).append(made);
    const isThere = await Promise.race([ready, failed, sleep(LOADING)]);
    end.abort();
    return isThere ? made.contentWindow : null;
  };

  const ask = async (request: ProofRequest): Promise<Proof> => {
    if (!host) return null;
    // The application may have removed the frame.
    if (!frame?.isConnected) opened = open(host);
    const target = await opened;
    if (!target) return undefined;
    const { port1, port2 } = new MessageChannel();
    const answer = new Promise<Proof>((resolve) => {
      port1.onmessage = ({ data }) => resolve(data === false ? undefined : (data ?? null));
    });
    target.postMessage(request, new URL(base).origin, [port2]);
    const late = sleep(request.again ? LOADING : ANSWER);
    return (await Promise.race([answer, late]).finally(() => port1.close())) as Proof;
  };

  return {
    closeFrame,
    proofFor: async (request: ProofRequest): Promise<Proof> => {
      const proof = (await ask(request).catch(ignore)) as Proof;
      // The next time it is tried again.
      if (!proof) closeFrame();
      return proof;
    },
  };
};
