/** What a browser offers beyond Node. Nothing of it is used without a `document`. */
type Browser = {
  readonly document: EventTarget & { readonly hidden: boolean };
  readonly location: {
    readonly href: string;
    readonly origin: string;
    readonly hostname: string;
    readonly protocol: string;
  };
  readonly navigator: { readonly onLine: boolean };
  readonly localStorage: { getItem(key: string): string | null; setItem(key: string, value: number): void };
};

export const browser = (): (Browser & EventTarget) | undefined =>
  'document' in globalThis ? (globalThis as unknown as Browser & EventTarget) : undefined;

/** Does not keep a program on Node alive. */
export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    (setTimeout(resolve, milliseconds) as { unref?(): void }).unref?.();
  });

export const ignore = (): void => undefined;
