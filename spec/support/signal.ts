/** Something that happens once: one side waits for it, the other says that it did. */
export interface Signal<T = void> {
  readonly happened: Promise<T>;
  happens(value: T): void;
}

export function signal<T = void>(): Signal<T> {
  let happens: (value: T) => void = () => undefined;
  const happened = new Promise<T>(resolve => {
    happens = resolve;
  });
  return { happened, happens };
}
